-- policy: town
-- python: QuestionBuilder("(SELECT order_id, SUM(price) AS total FROM items GROUP BY order_id) AS each").agg(m=mean("total"))
SELECT AVG(total) AS m FROM (SELECT order_id, SUM(price) AS total FROM items GROUP BY order_id) AS each
