SELECT start_zone, COUNT(*) AS trips FROM trips GROUP BY start_zone ORDER BY trips DESC, start_zone;
SELECT start_zone, end_zone, COUNT(*) AS n FROM trips GROUP BY start_zone, end_zone HAVING n > 5 ORDER BY n DESC, 1, 2 LIMIT 10;
SELECT mode, AVG(km) AS km, AVG(minutes) AS minutes, SUM(km) / SUM(minutes) * 60 AS kmh FROM trips GROUP BY mode;
SELECT mode, ROUND(SUM(km) / NULLIF(SUM(minutes), 0) * 60, 1) AS kmh FROM trips GROUP BY mode ORDER BY mode;
SELECT DATE_TRUNC('hour', started) AS h, mode, COUNT(*) AS n FROM trips GROUP BY h, mode ORDER BY h, mode;
SELECT HOUR(started) AS h, COUNT(*) AS n FROM trips WHERE DAYOFWEEK(started) IN (0, 6) GROUP BY h HAVING COUNT(*) > 0 ORDER BY h;
SELECT CASE WHEN HOUR(started) BETWEEN 7 AND 9 THEN 'peak' ELSE 'off' END AS t, AVG(minutes) AS m FROM trips GROUP BY t ORDER BY t;
SELECT z.borough, COUNT(*) AS n FROM trips t JOIN zones z ON t.start_zone = z.zone GROUP BY z.borough ORDER BY n DESC;
SELECT a.borough AS f, b.borough AS t, COUNT(*) AS n FROM trips JOIN zones a ON start_zone = a.zone JOIN zones b ON end_zone = b.zone GROUP BY f, t ORDER BY f, t;
SELECT COUNT(*) AS inside FROM trips WHERE start_zone = end_zone;
SELECT start_zone = end_zone AS inside, AVG(km) AS km FROM trips GROUP BY inside ORDER BY inside;
SELECT AVG(n) AS trips_each, STDDEV(n) AS sd FROM (SELECT rider, COUNT(*) AS n FROM trips GROUP BY rider);
SELECT modes, COUNT(*) AS riders FROM (SELECT rider, COUNT(DISTINCT mode) AS modes FROM trips GROUP BY rider) GROUP BY modes HAVING COUNT(*) > 0 ORDER BY modes;
SELECT COUNT(*) AS n FROM trips t WHERE t.start_zone IN (SELECT zone FROM zones WHERE borough = 'north');
SELECT COUNT(*) AS commuters FROM (SELECT rider FROM trips WHERE HOUR(started) BETWEEN 7 AND 9 GROUP BY rider HAVING COUNT(*) >= 2);
WITH m AS (SELECT rider, AVG(minutes) AS m FROM trips GROUP BY rider) SELECT FLOOR(m) AS m, COUNT(*) AS n FROM m GROUP BY 1 HAVING COUNT(*) > 0 ORDER BY 1;
WITH long AS (SELECT * FROM trips WHERE km > 5), slow AS (SELECT * FROM long WHERE minutes > 30) SELECT mode, COUNT(*) AS n FROM slow GROUP BY mode ORDER BY mode;
SELECT mode, COUNT(*) AS n FROM (SELECT * FROM trips WHERE km > 1) AS t GROUP BY mode ORDER BY mode;
SELECT q.mode, COUNT(*) AS n FROM (trips JOIN zones ON start_zone = zone) AS q WHERE q.borough = 'south' GROUP BY q.mode ORDER BY 1;
SELECT c.mode, COUNT(*) AS n FROM (trips) AS c GROUP BY c.mode ORDER BY 1;
SELECT SUM(km) AS km, SUM(km) * 0.621371 AS miles FROM trips;
SELECT mode, SUM(km * CASE mode WHEN 'car' THEN 120 WHEN 'bus' THEN 60 ELSE 0 END) / 1000 AS kg FROM trips GROUP BY mode ORDER BY mode;
SELECT ROUND(km) AS km, COUNT(*) AS n FROM trips GROUP BY ROUND(km) HAVING COUNT(*) > 0 ORDER BY 1, 2;
SELECT ROUND(km, 0) AS d, AVG(minutes) AS m FROM trips GROUP BY d HAVING COUNT(*) > 0 ORDER BY d;
SELECT mode, COUNT(*) AS n, AVG(km) AS km FROM trips WHERE minutes > 0 AND km / minutes < 2 GROUP BY mode ORDER BY mode;
SELECT DATE_TRUNC('day', started) AS d, COUNT(DISTINCT rider) AS riders, COUNT(*) AS trips, COUNT(*) / COUNT(DISTINCT rider) AS each FROM trips GROUP BY d ORDER BY d;
SELECT DATE(started) AS d, ROUND(AVG(minutes), 1) AS m FROM trips GROUP BY d ORDER BY d;
SELECT QUARTER(started) AS q, COUNT(*) AS n FROM trips GROUP BY q HAVING COUNT(*) > 0;
SELECT WEEK(started) AS w, COUNT(*) AS n FROM trips GROUP BY w HAVING n > 0 ORDER BY w;
SELECT mode, COUNT(*) AS n FROM trips WHERE started + INTERVAL 1 HOUR < TIMESTAMP '2026-05-02 00:00:00' GROUP BY mode ORDER BY mode;
SELECT mode, COUNT(*) AS n FROM trips WHERE started >= DATE '2026-05-03' AND started < DATE '2026-05-03' + INTERVAL 1 DAY GROUP BY mode ORDER BY mode;
SELECT EXTRACT(epoch FROM started) > 1777600000 AS late, COUNT(*) AS n FROM trips GROUP BY late ORDER BY late;
SELECT mode, CASE WHEN AVG(km) > 5 THEN 'far' WHEN AVG(km) > 2 THEN 'near' ELSE 'close' END AS reach FROM trips GROUP BY mode ORDER BY mode;
SELECT mode, CONCAT(ROUND(AVG(km), 1), ' km') AS reach FROM trips GROUP BY mode ORDER BY mode;
SELECT UPPER(mode) AS m, COUNT(*) AS n FROM trips GROUP BY UPPER(mode) ORDER BY m;
SELECT mode, COUNT(*) AS n FROM trips GROUP BY mode ORDER BY LENGTH(mode), mode;
SELECT mode, LN(SUM(km)) AS l, EXP(LN(COUNT(*))) AS n FROM trips GROUP BY mode ORDER BY mode;
-- refused: no function WIDTH_BUCKET
SELECT WIDTH_BUCKET(km, 0, 20, 4) AS b, COUNT(*) AS n FROM trips GROUP BY b HAVING n > 0 ORDER BY b;
-- refused: joined on the unit
SELECT COUNT(*) FROM trips a JOIN trips b ON a.start_zone = b.start_zone AND a.started = b.started;
-- refused: would release rows
SELECT ARRAY_AGG(mode) FROM trips;
-- refused: would release rows
SELECT STRING_AGG(mode, ',') FROM trips GROUP BY start_zone;
-- refused: sub-query with GROUP BY the privacy unit
SELECT mode, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY mode) AS running FROM trips GROUP BY mode;
