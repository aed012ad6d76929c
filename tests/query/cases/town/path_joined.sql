-- policy: town
-- python: QuestionBuilder("items JOIN orders USING (order_id)").agg(s=sum("price"), n=count())
SELECT SUM(price) AS s, COUNT(*) AS n FROM items JOIN orders USING (order_id)
