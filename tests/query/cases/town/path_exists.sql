-- policy: town
-- python: QuestionBuilder("orders AS o").where("EXISTS (SELECT 1 FROM items AS i WHERE i.order_id = o.order_id AND price > 2)").agg(n=count())
SELECT COUNT(*) AS n FROM orders AS o WHERE EXISTS (SELECT 1 FROM items AS i WHERE i.order_id = o.order_id AND price > 2)
