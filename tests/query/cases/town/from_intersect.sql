-- policy: town_replace
-- python: QuestionBuilder("(SELECT patient FROM visits INTERSECT SELECT patient FROM bills WHERE amount > 5) AS q").agg(n=count())
SELECT COUNT(*) AS n FROM (SELECT patient FROM visits INTERSECT SELECT patient FROM bills WHERE amount > 5) AS q
