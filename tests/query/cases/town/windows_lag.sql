-- policy: town
-- python: QuestionBuilder("(SELECT ward, cost - LAG(cost) OVER (PARTITION BY patient ORDER BY day) AS more, LEAD(ward, 2) OVER (PARTITION BY patient ORDER BY day DESC) AS after FROM visits) AS each").group_by("ward").agg(s=sum("more"), n=count("after"))
SELECT ward, SUM(more) AS s, COUNT(after) AS n FROM (SELECT ward, cost - LAG(cost) OVER (PARTITION BY patient ORDER BY day) AS more, LEAD(ward, 2) OVER (PARTITION BY patient ORDER BY day DESC) AS after FROM visits) AS each GROUP BY ward
