-- policy: town
-- python: QuestionBuilder("(SELECT patient, ward, note FROM visits EXCEPT SELECT patient, ward, note FROM visits WHERE cost > 40) AS rest").group_by("ward").agg(n=count())
SELECT ward, COUNT(*) AS n FROM (SELECT patient, ward, note FROM visits EXCEPT SELECT patient, ward, note FROM visits WHERE cost > 40) AS rest GROUP BY ward
