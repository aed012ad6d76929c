-- policy: person
-- python: ask.group_by("ward").agg(youngest=min("age"), oldest=max("age"))
SELECT ward, MIN(age) AS youngest, MAX(age) AS oldest
FROM visits
GROUP BY ward
