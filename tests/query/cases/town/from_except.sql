-- policy: town
-- python: QuestionBuilder("(SELECT patient FROM visits EXCEPT SELECT patient FROM bills) AS q").agg(n=count())
SELECT COUNT(*) AS n FROM (SELECT patient FROM visits EXCEPT SELECT patient FROM bills) AS q
