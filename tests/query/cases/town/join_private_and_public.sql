-- policy: town
-- python: QuestionBuilder("visits AS v JOIN bills AS b ON v.patient = b.patient JOIN wards AS w ON v.ward = w.ward").agg(s=sum("b.amount * w.floor"))
SELECT SUM(b.amount * w.floor) AS s FROM visits AS v JOIN bills AS b ON v.patient = b.patient JOIN wards AS w ON v.ward = w.ward
