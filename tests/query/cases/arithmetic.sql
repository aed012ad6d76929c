-- policy: person
-- python: ask.agg(per_visit="SUM(cost) / COUNT(*)", one_more="1 + SUM(age)", square="POWER(AVG(age), 2)")
SELECT SUM(cost) / COUNT(*) AS per_visit, 1 + SUM(age) AS one_more, POWER(AVG(age), 2) AS square FROM visits
