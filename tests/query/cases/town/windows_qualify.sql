-- policy: town
-- python: QuestionBuilder("(SELECT ward, cost FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day) = 1) AS each").group_by("ward").agg(s=sum("cost"))
SELECT ward, SUM(cost) AS s FROM (SELECT DISTINCT ON (patient) ward, cost FROM visits ORDER BY patient, day) AS each GROUP BY ward
