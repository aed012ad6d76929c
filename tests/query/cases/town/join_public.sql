-- policy: town
-- python: QuestionBuilder("visits AS v JOIN wards AS w ON v.ward = w.ward").group_by("floor").agg(n=count(), c=mean("cost"))
SELECT floor, COUNT(*) AS n, AVG(cost) AS c FROM visits AS v JOIN wards AS w ON v.ward = w.ward GROUP BY floor
