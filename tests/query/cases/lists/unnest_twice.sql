-- policy: lists
-- python: QuestionBuilder("visits, UNNEST(codes) AS u(code), UNNEST(scores) AS w(score)").group_by("code").agg(s=sum("score"))
SELECT code, SUM(score) AS s FROM visits, UNNEST(codes) AS u(code), UNNEST(scores) AS w(score) GROUP BY code
