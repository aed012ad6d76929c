-- policy: replace
-- python: ask.agg(wards=top_k("ward", 2), one=mode("ward"))
SELECT TOP_K(ward, 2) AS wards, MODE(ward) AS one
FROM visits
