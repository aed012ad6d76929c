-- policy: town
-- python: QuestionBuilder("(SELECT patient, cost AS x FROM visits UNION ALL SELECT patient, amount FROM bills UNION ALL SELECT patient, 100 - cost FROM visits) AS t").agg(s=sum("x"))
SELECT SUM(x) AS s FROM (SELECT patient, cost AS x FROM visits UNION ALL SELECT patient, amount FROM bills UNION ALL SELECT patient, 100 - cost FROM visits) AS t
