-- policy: town_replace
-- python: QuestionBuilder("visits FULL JOIN bills USING (patient)").agg(s=sum("COALESCE(cost, amount)"))
SELECT SUM(COALESCE(cost, amount)) AS s FROM visits FULL JOIN bills USING (patient)
