-- policy: town
-- python: QuestionBuilder("visits AS v").where("EXISTS (SELECT 1 FROM bills AS b WHERE b.patient = v.patient AND b.amount > 5)").agg(n=count())
SELECT COUNT(*) AS n FROM visits AS v WHERE EXISTS (SELECT 1 FROM bills AS b WHERE b.patient = v.patient AND b.amount > 5)
