-- policy: town_replace
-- python: QuestionBuilder("visits LEFT JOIN bills USING (patient)").agg(n=count("amount"), s=sum("cost"))
SELECT COUNT(amount) AS n, SUM(cost) AS s FROM visits LEFT JOIN bills USING (patient)
