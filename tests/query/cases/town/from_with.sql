-- policy: town
-- python: QuestionBuilder("visits").where("cost > 3").group_by("ward").agg(n=count())
WITH dear AS (SELECT * FROM visits WHERE cost > 3) SELECT ward, COUNT(*) AS n FROM dear GROUP BY ward
