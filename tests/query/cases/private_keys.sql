-- policy: person
-- python: ask.group_by("diagnosis").agg(people=count_units("patient"), age=mean("age"))
SELECT diagnosis, COUNT(DISTINCT patient) AS people, AVG(age) AS age FROM visits GROUP BY diagnosis
