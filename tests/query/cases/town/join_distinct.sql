-- policy: town
-- python: QuestionBuilder("visits JOIN wards USING (ward)").agg(n=count_distinct("floor"))
SELECT COUNT(DISTINCT floor) AS n FROM visits JOIN wards USING (ward)
