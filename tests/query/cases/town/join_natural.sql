-- policy: town
-- python: Asking("visits NATURAL JOIN wards").group_by("floor").agg(n=count())
SELECT floor, COUNT(*) AS n FROM visits NATURAL JOIN wards GROUP BY floor
