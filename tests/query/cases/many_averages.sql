-- policy: person
-- python: ask.group_by("ward").agg(cost=mean("cost"), age=mean("age"), weight=mean("weight"), urgent=sum("CAST(urgent AS INTEGER)"))
SELECT ward, AVG(cost) AS cost, AVG(age) AS age, AVG(weight) AS weight, SUM(CAST(urgent AS INTEGER)) AS urgent FROM visits GROUP BY ward
