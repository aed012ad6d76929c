-- policy: town_replace
-- python: QuestionBuilder("(SELECT ward, x FROM rows UNION ALL SELECT ward, -x FROM rows)").group_by("ward").agg(s=sum("x"))
SELECT ward, SUM(x) AS s FROM (SELECT ward, x FROM rows UNION ALL SELECT ward, -x FROM rows) GROUP BY ward
