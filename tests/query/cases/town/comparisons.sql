-- policy: town
-- python: Asking("visits").where("note LIKE 'a!%' ESCAPE '!' OR cost = ANY ([10, 20]) OR (ward, cost) IN (('A', 30), ('B', 50)) OR SPLIT_PART(note, '-', 1) = 'x' OR SECOND(day) > 0").agg(n=count())
SELECT COUNT(*) AS n FROM visits WHERE note LIKE 'a!%' ESCAPE '!' OR cost = ANY ([10, 20]) OR (ward, cost) IN (('A', 30), ('B', 50)) OR SPLIT_PART(note, '-', 1) = 'x' OR SECOND(day) > 0
