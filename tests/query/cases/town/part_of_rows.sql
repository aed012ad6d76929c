-- policy: town
-- python: QuestionBuilder("rows").agg(s=sum("x"))
-- part: ward A
SELECT SUM(x) AS s FROM rows
