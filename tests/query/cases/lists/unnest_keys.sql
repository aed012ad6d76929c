-- policy: lists
-- python: QuestionBuilder("visits, UNNEST(codes) AS u(code)").group_by("code").agg(n=count())
SELECT code, COUNT(*) AS n FROM visits, UNNEST(codes) AS u(code) GROUP BY code
