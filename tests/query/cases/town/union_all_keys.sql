-- policy: town
-- python: QuestionBuilder("(SELECT patient, ward, cost FROM visits UNION ALL SELECT patient, 'C', amount FROM bills) AS t").where("cost > 5").agg(n=count(), m=mean("cost"))
SELECT COUNT(*) AS n, AVG(cost) AS m FROM (SELECT patient, ward, cost FROM visits UNION ALL SELECT patient, 'C', amount FROM bills) AS t WHERE cost > 5
