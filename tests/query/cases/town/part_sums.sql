-- policy: town
-- python: QuestionBuilder("visits").agg(n=count(), s=sum("cost"))
-- part: ward A
SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits
