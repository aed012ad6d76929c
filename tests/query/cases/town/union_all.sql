-- policy: town
-- python: QuestionBuilder("(SELECT patient, cost AS x FROM visits UNION ALL SELECT patient, amount FROM bills) AS t").agg(s=sum("x"), n=count_units("patient"))
SELECT SUM(x) AS s, COUNT(DISTINCT patient) AS n FROM (SELECT patient, cost AS x FROM visits UNION ALL SELECT patient, amount FROM bills) AS t
