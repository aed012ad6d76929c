-- policy: town
-- python: QuestionBuilder("(SELECT patient, SUM(cost) AS cost FROM visits GROUP BY patient HAVING SUM(cost) > 20)").group_by(half="FLOOR(cost / 50)").agg(cost=sum("cost"), having="AVG(cost) > 1", order_by="cost")
SELECT FLOOR(cost / 50) AS half, SUM(cost) AS cost FROM (SELECT patient, SUM(cost) AS cost FROM visits GROUP BY patient HAVING cost > 20) GROUP BY half HAVING AVG(cost) > 1 ORDER BY cost
