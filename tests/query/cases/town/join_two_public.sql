-- policy: town
-- python: QuestionBuilder("visits JOIN wards USING (ward) JOIN tariffs USING (floor)").agg(s=sum("price"), n=count())
SELECT SUM(price) AS s, COUNT(*) AS n FROM visits JOIN wards USING (ward) JOIN tariffs USING (floor)
