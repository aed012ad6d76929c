-- policy: town
-- python: QuestionBuilder("visits AS v JOIN orders AS o ON v.patient = o.buyer").group_by("ward").agg(n=count())
SELECT ward, COUNT(*) AS n FROM visits AS v JOIN orders AS o ON v.patient = o.buyer GROUP BY ward
