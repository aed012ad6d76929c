-- policy: lists
-- python: QuestionBuilder("rows, UNNEST(codes) AS u(code)").group_by("code").agg(n=count(), s=sum("x"))
SELECT code, COUNT(*) AS n, SUM(x) AS s FROM rows, UNNEST(codes) AS u(code) GROUP BY code
