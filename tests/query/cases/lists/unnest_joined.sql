-- policy: lists
-- python: QuestionBuilder("visits, UNNEST(codes) AS u(code) JOIN names ON names.code = u.code").group_by("chapter").agg(n=count())
SELECT chapter, COUNT(*) AS n FROM visits, UNNEST(codes) AS u(code) JOIN names ON names.code = u.code GROUP BY chapter
