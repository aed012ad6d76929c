-- policy: row
-- python: ask.agg(wards=top_k("ward", 2))
SELECT APPROX_TOP_K(ward, 2) AS wards
FROM visits
