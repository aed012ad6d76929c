-- policy: town
-- python: QuestionBuilder("visits").where("cost > (SELECT MIN(price) FROM tariffs)").agg(h=histogram("cost", 4))
SELECT HISTOGRAM(cost, 4) AS h FROM visits WHERE cost > (SELECT MIN(price) FROM tariffs)
