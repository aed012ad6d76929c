-- policy: town_replace
-- python: QuestionBuilder("(SELECT ward, cost, patient FROM visits UNION ALL SELECT ward, cost / 2, patient FROM visits) AS t JOIN wards USING (ward)").agg(s=sum("cost * floor"))
SELECT SUM(cost * floor) AS s FROM (SELECT ward, cost, patient FROM visits UNION ALL SELECT ward, cost / 2, patient FROM visits) AS t JOIN wards USING (ward)
