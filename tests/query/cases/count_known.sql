-- policy: person
-- python: ask.agg(known=count("age"), n=count())
SELECT COUNT(age) AS known, COUNT(*) AS n FROM visits
