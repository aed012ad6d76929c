-- policy: town
-- python: QuestionBuilder("(SELECT DISTINCT patient, ward FROM visits)").group_by("ward").agg(n=count())
SELECT ward, COUNT(*) AS n FROM (SELECT DISTINCT patient, ward FROM visits) GROUP BY ward
