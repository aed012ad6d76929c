-- policy: town
-- python: QuestionBuilder("(SELECT patient, SUM(cost) FROM visits GROUP BY patient) AS each(who, total)").agg(mean=mean("total"))
WITH each(who, total) AS (SELECT patient, SUM(cost) FROM visits GROUP BY patient) SELECT AVG(total) AS mean FROM each
