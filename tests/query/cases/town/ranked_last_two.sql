-- policy: town_replace
-- python: QuestionBuilder("(SELECT cost, ROW_NUMBER() OVER (PARTITION BY patient, ward ORDER BY cost DESC, day) AS n FROM visits WHERE cost > 5) AS each").where("n <= 2").agg(m=mean("cost"))
SELECT AVG(cost) AS m FROM (SELECT cost, ROW_NUMBER() OVER (PARTITION BY patient, ward ORDER BY cost DESC, day) AS n FROM visits WHERE cost > 5) AS each WHERE n <= 2
