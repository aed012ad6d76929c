-- policy: town
-- python: QuestionBuilder("(SELECT patient, SUM(cost) AS total FROM visits GROUP BY patient)").agg(mean=mean("total"))
-- part: ward A
SELECT AVG(total) AS mean FROM (SELECT patient, SUM(cost) AS total FROM visits GROUP BY patient)
