-- policy: town
-- python: QuestionBuilder("visits").where("patient IN (SELECT patient FROM bills WHERE amount > 5)").agg(s=sum("cost"))
SELECT SUM(cost) AS s FROM visits WHERE patient IN (SELECT patient FROM bills WHERE amount > 5)
