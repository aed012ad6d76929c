-- policy: town
-- python: QuestionBuilder("visits AS v").where("NOT EXISTS (SELECT 1 FROM bills AS b WHERE b.patient = v.patient AND b.amount < 7)").group_by("ward").agg(n=count())
SELECT ward, COUNT(*) AS n FROM visits AS v WHERE NOT EXISTS (SELECT 1 FROM bills AS b WHERE b.patient = v.patient AND b.amount < 7) GROUP BY ward
