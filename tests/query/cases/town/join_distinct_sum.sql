-- policy: town
-- python: QuestionBuilder("visits JOIN wards USING (ward)").group_by("ward").agg(n=sum_distinct("floor - 3"), c=sum_distinct("cost"))
SELECT ward, SUM(DISTINCT floor - 3) AS n, SUM(DISTINCT cost) AS c
FROM visits JOIN wards USING (ward) GROUP BY ward
