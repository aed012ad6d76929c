-- policy: town_replace
-- python: QuestionBuilder("visits").agg(m=median("cost"), d=count_distinct("note"))
-- part: ward A
SELECT MEDIAN(cost) AS m, COUNT(DISTINCT note) AS d FROM visits
