-- policy: town
-- python: QuestionBuilder("(SELECT ward, cost, ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day) AS n FROM visits) AS each").where("n = 1").group_by("ward").agg(n=count(), s=sum("cost"))
SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM (SELECT ward, cost, ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day) AS n FROM visits) AS each WHERE n = 1 GROUP BY ward
