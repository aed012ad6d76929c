-- policy: town
-- python: QuestionBuilder("visits").where("ward = 'A' AND cost < 90").agg(s=sum("cost + 1"))
SELECT SUM(c) AS s FROM (SELECT cost + 1 AS c, cost AS d FROM visits WHERE ward = 'A') AS v WHERE v.d < 90
