-- policy: person
-- python: ask.agg(age=median("age"))
SELECT MEDIAN(age) AS age
FROM visits
