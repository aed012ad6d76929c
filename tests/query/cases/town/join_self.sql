-- policy: town
-- python: QuestionBuilder("visits AS a JOIN visits AS b ON a.patient = b.patient AND a.cost < b.cost").agg(s=sum("b.cost - a.cost"))
SELECT SUM(b.cost - a.cost) AS s FROM visits AS a JOIN visits AS b ON a.patient = b.patient AND a.cost < b.cost
