-- policy: lists
-- python: QuestionBuilder("visits AS v LEFT JOIN UNNEST(v.scores) AS u(score) ON TRUE").group_by("ward").agg(n=count(), m=mean("score"))
SELECT ward, COUNT(*) AS n, AVG(score) AS m FROM visits AS v LEFT JOIN UNNEST(v.scores) AS u(score) ON TRUE GROUP BY ward
