-- policy: town
-- python: QuestionBuilder("visits SEMI JOIN bills ON visits.patient = bills.patient AND amount > 5").agg(n=count())
SELECT COUNT(*) AS n FROM visits SEMI JOIN bills ON visits.patient = bills.patient AND amount > 5
