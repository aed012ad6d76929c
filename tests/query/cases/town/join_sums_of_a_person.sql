-- policy: town
-- python: QuestionBuilder("visits JOIN (SELECT patient, SUM(amount) AS paid FROM bills GROUP BY patient) AS p USING (patient)").group_by("ward").agg(m=mean("paid"))
SELECT ward, AVG(paid) AS m FROM visits JOIN (SELECT patient, SUM(amount) AS paid FROM bills GROUP BY patient) AS p USING (patient) GROUP BY ward
