-- policy: town
-- python: QuestionBuilder("visits").where("cost = ANY ([10, 20]) OR (ward, cost) IN (('A', 30), ('B', 50)) OR note IS NOT DISTINCT FROM 'x'").agg(n=count())
SELECT COUNT(*) AS n FROM visits WHERE cost = ANY ([10, 20]) OR (ward, cost) IN (('A', 30), ('B', 50)) OR note IS NOT DISTINCT FROM 'x'
