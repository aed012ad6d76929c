-- policy: town
-- python: QuestionBuilder("visits AS v JOIN bills AS b ON v.patient = b.patient AND b.amount < v.cost").agg(s=sum("b.amount"), n=count_units("v.patient"))
SELECT SUM(b.amount) AS s, COUNT(DISTINCT v.patient) AS n FROM visits AS v JOIN bills AS b ON v.patient = b.patient AND b.amount < v.cost
