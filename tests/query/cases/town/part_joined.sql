-- policy: town
-- python: QuestionBuilder("visits JOIN wards USING (ward)").agg(s=sum("cost * floor"))
-- part: ward A
SELECT SUM(cost * floor) AS s FROM visits JOIN wards USING (ward)
