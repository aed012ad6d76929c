-- policy: lists
-- python: QuestionBuilder("visits, UNNEST(codes) AS u(code)").group_by("code").agg(n=count(), s=count_units("patient"))
SELECT code, COUNT(*) AS n, COUNT(DISTINCT patient) AS s FROM visits, UNNEST(codes) AS u(code) GROUP BY code
