-- policy: lists
-- python: QuestionBuilder("rows, UNNEST(odd) AS u(o)").agg(m=median("o"))
SELECT MEDIAN(o) AS m FROM rows, UNNEST(odd) AS u(o)
