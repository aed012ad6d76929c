SELECT COUNT(*) FROM visits;
SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward ORDER BY visits DESC;
SELECT ward, ROUND(AVG(cost), 2) AS mean_cost FROM visits GROUP BY ward ORDER BY ward;
SELECT ward, SUM(cost) AS total, SUM(cost) / COUNT(*) AS per_visit FROM visits GROUP BY ward;
SELECT ward, SUM(cost) / NULLIF(COUNT(*), 0) AS per_visit FROM visits GROUP BY ward;
SELECT DATE_TRUNC('hour', admitted) AS h, COUNT(*) AS n FROM visits GROUP BY h HAVING COUNT(DISTINCT patient) > 3 ORDER BY h;
SELECT DATE_TRUNC('month', admitted) AS month, COUNT(DISTINCT patient) AS patients FROM visits GROUP BY 1 ORDER BY 1;
SELECT EXTRACT(hour FROM admitted) AS hour, COUNT(*) AS n FROM visits GROUP BY hour ORDER BY n DESC, hour LIMIT 5;
SELECT HOUR(admitted) AS hour, COUNT(*) AS n FROM visits WHERE urgent GROUP BY ALL ORDER BY ALL;
SELECT DAYOFWEEK(admitted) AS dow, AVG(cost) AS cost FROM visits GROUP BY dow ORDER BY dow;
SELECT AVG(DATE_DIFF('day', admitted, discharged)) AS days FROM visits;
SELECT ward, AVG(DATE_DIFF('hour', admitted, discharged)) AS hours FROM visits GROUP BY ward;
SELECT ward, AVG(CASE WHEN urgent THEN 1.0 ELSE 0.0 END) AS share FROM visits GROUP BY ward;
SELECT ward, 100.0 * SUM(CASE WHEN urgent THEN 1 ELSE 0 END) / COUNT(*) AS pct FROM visits GROUP BY ward;
SELECT ward, ROUND(100.0 * COUNT(*) FILTER (WHERE urgent) / COUNT(*), 1) AS pct FROM visits GROUP BY ward;
SELECT ward, COUNT(*) FILTER (WHERE cost > 500) AS expensive, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 100;
SELECT ward, AVG(cost) AS cost FROM visits GROUP BY ward HAVING AVG(cost) > 100 ORDER BY cost DESC;
SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis HAVING n >= 20 ORDER BY n DESC, diagnosis;
SELECT UPPER(diagnosis) AS d, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3;
SELECT CASE WHEN cost < 100 THEN 'low' WHEN cost < 500 THEN 'middle' ELSE 'high' END AS band, COUNT(*) AS n FROM visits GROUP BY band ORDER BY band;
SELECT FLOOR(cost / 100) * 100 AS bucket, COUNT(*) AS n FROM visits GROUP BY bucket ORDER BY bucket;
-- about 2
SELECT ward, STDDEV(cost) AS sd, VARIANCE(cost) AS v FROM visits GROUP BY ward;
-- about 0.01
-- plain: SELECT corr(cost, date_diff('hour', admitted, discharged)) FROM visits
SELECT CORR(cost, CLAMP(DATE_DIFF('hour', admitted, discharged), 0, 200)) AS r FROM visits;
SELECT w.floor, COUNT(*) AS n FROM visits AS v JOIN wards AS w ON v.ward = w.ward GROUP BY w.floor ORDER BY w.floor;
SELECT w.floor, AVG(v.cost) AS cost FROM visits v LEFT JOIN wards w USING (ward) GROUP BY w.floor HAVING COUNT(*) > 10;
SELECT p.sex, AVG(v.cost) AS cost FROM patients p JOIN visits v ON p.patient = v.patient GROUP BY p.sex;
SELECT p.sex, COUNT(DISTINCT v.patient) AS n FROM patients p JOIN visits v USING (patient) GROUP BY p.sex;
SELECT COUNT(*) AS never FROM patients p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient = p.patient);
SELECT sex, COUNT(*) AS n FROM patients WHERE patient IN (SELECT patient FROM visits WHERE urgent) GROUP BY sex;
SELECT AVG(n) AS visits_each FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient);
SELECT n, COUNT(*) AS patients FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) GROUP BY n HAVING COUNT(*) > 3 ORDER BY n;
WITH each AS (SELECT patient, SUM(cost) AS total, MAX(urgent) AS ever FROM visits GROUP BY patient) SELECT ever, AVG(total) AS total FROM each GROUP BY ever;
WITH each AS (SELECT patient, MIN(admitted) AS first FROM visits GROUP BY patient) SELECT DATE_TRUNC('month', first) AS m, COUNT(*) AS n FROM each GROUP BY m ORDER BY m;
SELECT 2026 - birth_year AS age, COUNT(*) AS n FROM patients GROUP BY age ORDER BY age;
SELECT FLOOR((2026 - birth_year) / 10) * 10 AS decade, sex, COUNT(*) AS n FROM patients GROUP BY decade, sex ORDER BY decade, sex;
SELECT ward AS w, COUNT(*) AS n FROM public.visits AS v WHERE v.admitted >= '2026-01-10' AND v.admitted < '2026-02-01' GROUP BY w;
SELECT ward, COUNT(*) AS n FROM visits WHERE admitted BETWEEN DATE '2026-01-05' AND DATE '2026-01-25' GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM visits WHERE diagnosis LIKE 'a%' OR diagnosis ILIKE '%X' GROUP BY ward;
SELECT COUNT(diagnosis) AS known, COUNT(*) - COUNT(diagnosis) AS missing FROM visits;
SELECT COALESCE(diagnosis, 'unknown') AS d, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 1;
-- about 1e-4
SELECT ward, CAST(SUM(cost) AS FLOAT) / COUNT(*) AS per_visit FROM visits GROUP BY ward;
SELECT ward, CAST(AVG(cost) AS INTEGER) AS cost FROM visits GROUP BY ward;
SELECT CONCAT(ward, ': ', CAST(COUNT(*) AS VARCHAR)) AS label FROM visits GROUP BY ward ORDER BY label;
SELECT ward || '!' AS w, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY ward;
SELECT ward, CASE WHEN COUNT(*) > 500 THEN 'busy' ELSE 'calm' END AS load FROM visits GROUP BY ward ORDER BY ward;
SELECT ward, LN(COUNT(*)) AS log_n FROM visits GROUP BY ward;
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING ward <> 'C' ORDER BY ward DESC;
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING ward IN ('A', 'B') AND n > 10;
SELECT DATE(admitted) AS day, COUNT(*) AS n FROM visits GROUP BY day ORDER BY day;
SELECT CAST(admitted AS DATE) AS day, SUM(cost) AS total FROM visits GROUP BY 1 ORDER BY 1;
SELECT DATE_PART('week', admitted) AS week, COUNT(*) AS n FROM visits GROUP BY week ORDER BY week;
SELECT AVG(discharged::DATE - admitted::DATE) AS days FROM visits;
-- plain: SELECT ward, avg(date_diff('day', admitted, discharged)) FROM visits GROUP BY ward
SELECT ward, AVG(DATEDIFF(day, admitted, discharged)) AS days FROM visits GROUP BY ward;
-- plain: SELECT AVG(DATE_SUB('hour', admitted, discharged)) AS hours FROM visits
-- about 0.01
SELECT AVG(TIMESTAMPDIFF(HOUR, admitted, discharged)) AS hours FROM visits;
SELECT COUNT(*) AS n FROM visits WHERE EPOCH(discharged) - EPOCH(admitted) > 86400;
SELECT COUNT(*) AS n FROM visits WHERE discharged > admitted + INTERVAL 2 DAY;
SELECT COUNT(*) AS n FROM visits WHERE admitted >= TIMESTAMP '2026-01-31 12:00:00' - INTERVAL '7 days';
SELECT STRFTIME(admitted, '%Y-%m') AS month, COUNT(*) AS n FROM visits GROUP BY month ORDER BY month;
-- about 3
SELECT ward, MEDIAN(cost) AS median FROM visits GROUP BY ward;
-- about 3
SELECT QUANTILE_CONT(cost, 0.9) AS p90 FROM visits;
SELECT ward, COUNT(*) AS n, COUNT(*) AS n FROM visits GROUP BY ward;
SELECT DISTINCT ward, COUNT(*) AS n FROM visits GROUP BY ward;
SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits);
-- refused: would release rows
SELECT * FROM visits LIMIT 10;
-- refused: rows cannot be released
SELECT ward, cost FROM visits;
SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM visits GROUP BY ward;
SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES(diagnosis, '^a');
SELECT ward, n, n * 100.0 / SUM(n) OVER () AS share FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY ward;
WITH g AS (SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward) SELECT ward, s / n AS mean, s / SUM(s) OVER () AS part FROM g ORDER BY ward;
WITH old AS (SELECT * FROM visits WHERE urgent), g AS (SELECT ward, COUNT(*) AS n FROM old GROUP BY ward) SELECT MAX(n) AS most, MIN(n) AS least, MAX(n) - MIN(n) AS range FROM g;
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) = 1;
SELECT DATE_TRUNC('week', admitted) AS w, COUNT(*) AS n, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY DATE_TRUNC('week', admitted)) AS change FROM visits GROUP BY 1 ORDER BY 1;
WITH a AS (SELECT ward, COUNT(*) AS n FROM visits WHERE urgent GROUP BY ward), b AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) SELECT b.ward, a.n / b.n AS urgent_share FROM a JOIN b ON a.ward = b.ward ORDER BY b.ward;
SELECT ward, urgent, COUNT(*) AS n FROM visits GROUP BY CUBE (ward, urgent) ORDER BY ward, urgent;
SELECT ward, AVG(cost) AS mean, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward) ORDER BY ward;
SELECT ward, urgent, SUM(cost) AS s, GROUPING(ward) AS total FROM visits GROUP BY GROUPING SETS ((ward), (urgent), ()) ORDER BY total, ward, urgent;
SELECT * FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) WHERE n > 5 ORDER BY ward LIMIT 2 OFFSET 1;
SELECT CASE WHEN n > 950 THEN 'large' ELSE 'small' END AS size, COUNT(*) AS wards FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) GROUP BY 1 ORDER BY 1;
SELECT AVG(n) AS mean_day, STDDEV(n) AS spread FROM (SELECT DATE(admitted) AS d, COUNT(*) AS n FROM visits GROUP BY d);
SELECT UPPER(diagnosis) || ': ' || n AS line FROM (SELECT diagnosis, COUNT(*) AS n FROM visits WHERE diagnosis IS NOT NULL GROUP BY diagnosis) ORDER BY line;
SELECT ward, COUNT(*) AS n, (SELECT COUNT(*) FROM visits) AS total FROM visits GROUP BY ward ORDER BY ward;
SELECT ward, n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS g WHERE n > (SELECT AVG(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)) ORDER BY ward;
PIVOT (SELECT ward, urgent, COUNT(*) AS n FROM visits GROUP BY ward, urgent) ON urgent USING SUM(n);
SELECT AVG(cost) AS mean FROM visits WHERE cost < (SELECT AVG(cost) FROM visits WHERE urgent);
SELECT COUNT(*) AS n FROM visits WHERE discharged > admitted + INTERVAL 48 HOUR;
SELECT COUNT(*) AS n FROM visits WHERE discharged - admitted > INTERVAL 2 DAY;
SELECT COUNT(*) AS n FROM visits WHERE discharged - admitted <= INTERVAL '36 hours';
SELECT ward, COUNT(*) AS n FROM visits WHERE admitted + INTERVAL 1 DAY >= discharged GROUP BY ward;
SELECT COUNT(*) AS n FROM visits WHERE EPOCH(discharged - admitted) > 86400;
SELECT COUNT(*) AS n FROM visits WHERE EXTRACT(EPOCH FROM (discharged - admitted)) / 3600 < 24;
-- plain: SELECT ward, COUNT(*) AS n FROM visits WHERE DATE_SUB('hour', admitted, discharged) >= 24 GROUP BY ward
SELECT ward, COUNT(*) AS n FROM visits WHERE TIMESTAMPDIFF(HOUR, admitted, discharged) >= 24 GROUP BY ward;
-- plain: SELECT DATE_SUB('day', admitted, discharged) AS days, COUNT(*) AS n FROM visits WHERE DATE_SUB('day', admitted, discharged) BETWEEN 0 AND 4 GROUP BY 1
SELECT LEAST(GREATEST(TIMESTAMPDIFF(DAY, admitted, discharged), 0), 5) AS days, COUNT(*) AS n FROM visits WHERE TIMESTAMPDIFF(DAY, admitted, discharged) <= 4 GROUP BY 1;
SELECT STRFTIME(admitted, '%H') AS hour, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 1;
SELECT COUNT(*) AS n FROM visits WHERE STRFTIME(admitted, '%Y-%m') = '2026-01';
SELECT COUNT(*) AS n FROM visits WHERE STRFTIME(admitted, '%Y-%m-%d') BETWEEN '2026-01-05' AND '2026-01-20';
-- plain: SELECT COUNT(*) AS n FROM visits WHERE STRFTIME(admitted, '%Y-%m') IN ('2026-02')
SELECT COUNT(*) AS n FROM visits WHERE TO_CHAR(admitted, 'YYYY-MM') IN ('2026-02');
-- plain: SELECT COUNT(*) AS n FROM visits WHERE STRFTIME(admitted, '%Y-%m') = '2026-02'
SELECT COUNT(*) AS n FROM visits WHERE DATE_FORMAT(admitted, '%Y-%m') = '2026-02';
SELECT DAYNAME(admitted) AS day, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 1;
SELECT MONTHNAME(admitted) AS month, SUM(cost) AS cost FROM visits GROUP BY 1 ORDER BY 1;
SELECT WEEKDAY(admitted) AS day, AVG(cost) AS cost FROM visits GROUP BY 1 ORDER BY 1;
SELECT ward || '-' || diagnosis AS both_of, COUNT(*) AS n FROM visits WHERE diagnosis IS NOT NULL GROUP BY 1 ORDER BY 1;
SELECT CONCAT(ward, ':', diagnosis) AS label, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 1;
SELECT CONCAT_WS('/', ward, diagnosis) AS label, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 1;
SELECT REPLACE(diagnosis, 'a', 'ae') AS d, COUNT(*) AS n FROM visits WHERE diagnosis IS NOT NULL GROUP BY 1 ORDER BY 1;
SELECT REPLACE(diagnosis, 'a', 'e') AS d, COUNT(*) AS n FROM visits WHERE diagnosis IS NOT NULL GROUP BY 1 ORDER BY 1;
-- plain: SELECT COUNT(DISTINCT (ward, diagnosis)) AS n FROM visits WHERE diagnosis IS NOT NULL
SELECT COUNT(DISTINCT ward, diagnosis) AS n FROM visits;
SELECT COUNT(DISTINCT (ward, diagnosis)) AS n FROM visits;
SELECT COUNT(*) AS n FROM visits WHERE REGEXP_MATCHES(diagnosis, '^a');
SELECT COUNT(*) AS n FROM visits WHERE diagnosis ~ '(flu|burn)';
SELECT COUNT(*) AS n FROM visits WHERE REGEXP_FULL_MATCH(diagnosis, 'a.*a');
SELECT COUNT(*) AS n FROM visits WHERE diagnosis SIMILAR TO 'a(sthma|pex)';
SELECT ward || ': ' || COUNT(*) AS label FROM visits GROUP BY ward ORDER BY ward;
-- refused: only whole units can be added up
SELECT AVG(discharged - admitted) AS stay FROM visits;
SELECT COUNT(*) AS n FROM visits WHERE admitted + INTERVAL 1 MONTH > discharged;
SELECT COUNT(*) AS n FROM (SELECT patient FROM patients EXCEPT SELECT patient FROM visits) AS never;
SELECT COUNT(*) AS n FROM (SELECT patient FROM visits WHERE ward = 'A' INTERSECT SELECT patient FROM visits WHERE ward = 'B') AS both_wards;
SELECT COUNT(*) AS n FROM (SELECT patient FROM visits WHERE ward = 'A' UNION SELECT patient FROM visits WHERE urgent) AS either;
SELECT ward, COUNT(*) AS n FROM (SELECT patient, ward FROM visits WHERE urgent UNION SELECT patient, ward FROM visits WHERE cost > 900) AS q GROUP BY ward ORDER BY ward;
SELECT sex, COUNT(*) AS n FROM patients WHERE patient IN (SELECT patient FROM visits EXCEPT SELECT patient FROM visits WHERE urgent) GROUP BY sex ORDER BY sex;
SELECT COUNT(*) FROM (SELECT patient, ward FROM visits EXCEPT SELECT patient, ward FROM visits WHERE urgent) AS q;
-- refused: looks at other people's rows
SELECT COUNT(*) FROM (SELECT ward FROM visits EXCEPT SELECT ward FROM visits WHERE urgent) AS q;
-- refused: Ask for its values first: SELECT ward, AVG(cost) FROM visits GROUP BY ward
SELECT COUNT(*) AS n FROM visits AS v WHERE cost > (SELECT AVG(w.cost) FROM visits AS w WHERE w.ward = v.ward);
SELECT COUNT(*) AS n FROM visits WHERE admitted::DATE + 2 >= discharged::DATE;
SELECT COUNT(*) AS n FROM visits WHERE CAST(discharged AS DATE) - 3 > CAST(admitted AS DATE);
