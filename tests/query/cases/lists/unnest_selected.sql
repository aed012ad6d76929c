-- policy: lists_replace
-- python: QuestionBuilder("(SELECT ward, UNNEST(days) AS day FROM visits) AS each").group_by("ward").agg(s=sum("day"))
SELECT ward, SUM(day) AS s FROM (SELECT ward, UNNEST(days) AS day FROM visits) AS each GROUP BY ward
