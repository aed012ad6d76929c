-- policy: town
-- python: QuestionBuilder("visits ANTI JOIN bills USING (patient)").group_by("ward").agg(n=count())
SELECT ward, COUNT(*) AS n FROM visits ANTI JOIN bills USING (patient) GROUP BY ALL
