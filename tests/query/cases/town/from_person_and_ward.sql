-- policy: town_replace
-- python: QuestionBuilder("(SELECT patient, ward, COUNT(*) AS n, AVG(cost) AS a FROM visits GROUP BY patient, ward HAVING COUNT(*) > 1)").where("a > 10").group_by("ward").agg(n=sum("n"))
SELECT ward, SUM(n) AS n FROM (SELECT patient, ward, COUNT(*) AS n, AVG(cost) AS a FROM visits GROUP BY patient, ward HAVING COUNT(*) > 1) WHERE a > 10 GROUP BY ward
