-- policy: town
-- python: QuestionBuilder("(SELECT patient, COUNT(*) AS n, MAX(cost) AS top FROM (SELECT * FROM visits WHERE cost > 3) GROUP BY patient)").where("n > 1").agg(s=sum("top"), n=count())
SELECT SUM(top) AS s, COUNT(*) AS n FROM (SELECT patient, COUNT(*) AS n, MAX(cost) AS top FROM (SELECT * FROM visits WHERE cost > 3) GROUP BY patient) WHERE n > 1
