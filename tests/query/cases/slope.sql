-- policy: replace
-- python: ask.group_by("ward").agg(slope=slope("weight", by="age"), start=intercept("weight", by="age"))
SELECT ward, REGR_SLOPE(weight, age) AS slope, REGR_INTERCEPT(weight, age) AS start
FROM visits
GROUP BY ward
