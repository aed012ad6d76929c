-- policy: town
-- python: QuestionBuilder("(SELECT patient, ward FROM visits WHERE cost > 20 UNION SELECT patient, ward FROM visits WHERE ward = 'A') AS q").group_by("ward").agg(n=count())
SELECT ward, COUNT(*) AS n FROM (SELECT patient, ward FROM visits WHERE cost > 20 UNION SELECT patient, ward FROM visits WHERE ward = 'A') AS q GROUP BY ward
