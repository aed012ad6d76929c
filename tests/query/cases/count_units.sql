-- policy: person
-- python: ask.agg(people=count_units("patient"))
SELECT COUNT(DISTINCT patient) AS people FROM visits
