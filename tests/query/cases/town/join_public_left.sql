-- policy: town_replace
-- python: QuestionBuilder("visits LEFT JOIN wards USING (ward) LEFT JOIN tariffs USING (floor)").agg(s=sum("cost - price"))
SELECT SUM(cost - price) AS s FROM visits LEFT JOIN wards USING (ward) LEFT JOIN tariffs USING (floor)
