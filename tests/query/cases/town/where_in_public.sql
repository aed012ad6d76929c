-- policy: town
-- python: QuestionBuilder("visits").where("ward NOT IN (SELECT ward FROM wards WHERE floor > 1)").agg(n=count())
SELECT COUNT(*) AS n FROM visits WHERE ward NOT IN (SELECT ward FROM wards WHERE floor > 1)
