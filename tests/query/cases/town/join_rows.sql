-- policy: town
-- python: QuestionBuilder("rows JOIN wards USING (ward)").group_by("floor").agg(s=sum("x"))
SELECT floor, SUM(x) AS s FROM rows JOIN wards USING (ward) GROUP BY floor
