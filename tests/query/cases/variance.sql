-- policy: person
-- python: ask.agg(spread=variance("age"), sd=stddev("age", population=True), mean=mean("age"))
SELECT VARIANCE(age) AS spread, STDDEV_POP(age) AS sd, AVG(age) AS mean FROM visits
