-- policy: row
-- python: ask.agg(ages=histogram("age", 4), wards=histogram("ward"))
SELECT HISTOGRAM(age, 4) AS ages, HISTOGRAM(ward) AS wards FROM visits
