-- policy: town
-- python: QuestionBuilder("visits").where("day + INTERVAL (CAST(cost AS INTEGER)) MONTH > DATE '2024-01-31' OR DATEDIFF(day, DATE '2022-01-10') < 2").group_by(month="EXTRACT(month FROM day - INTERVAL 2 WEEK)").agg(n=count())
SELECT EXTRACT(month FROM day - INTERVAL 2 WEEK) AS month, COUNT(*) AS n FROM visits WHERE day + INTERVAL (CAST(cost AS INTEGER)) MONTH > DATE '2024-01-31' OR DATEDIFF(day, DATE '2022-01-10') < 2 GROUP BY month
