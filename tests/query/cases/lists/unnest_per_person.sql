-- policy: lists
-- python: QuestionBuilder("(SELECT patient, COUNT(*) AS n FROM visits, UNNEST(flags) AS u(flag) WHERE flag GROUP BY patient) AS each").agg(s=sum("n"))
SELECT SUM(n) AS s FROM (SELECT patient, COUNT(*) AS n FROM visits, UNNEST(flags) AS u(flag) WHERE flag GROUP BY patient) AS each
