-- policy: town
-- python: QuestionBuilder("visits").where("cost > (SELECT AVG(amount) FROM bills WHERE bills.patient = visits.patient)").agg(n=count())
SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(amount) FROM bills WHERE bills.patient = visits.patient)
