-- policy: person
-- python: ask.where("age >= 18").agg(total=sum("cost"))
SELECT SUM(cost) AS total FROM visits WHERE age >= 18
