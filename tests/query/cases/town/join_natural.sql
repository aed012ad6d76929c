-- policy: town
-- python: QuestionBuilder("visits NATURAL JOIN wards").where("floor > 1").agg(n=count())
SELECT COUNT(*) AS n FROM visits NATURAL JOIN wards WHERE floor > 1
