SELECT COUNT(*) AS hits, COUNT(DISTINCT visitor) AS visitors FROM hits;
SELECT DATE_TRUNC('hour', seen) AS hour, COUNT(*) AS hits FROM hits GROUP BY 1 ORDER BY 1;
SELECT DATE_TRUNC('minute', seen) AS m, COUNT(*) AS n FROM hits WHERE seen < '2026-03-01 01:00:00' GROUP BY m HAVING n > 3 ORDER BY m;
SELECT seen, COUNT(*) AS n FROM hits WHERE seen < TIMESTAMP '2026-03-01 00:10:00' GROUP BY seen ORDER BY seen;
SELECT HOUR(seen) AS h, MINUTE(seen) AS m, COUNT(*) AS n FROM hits WHERE HOUR(seen) = 3 GROUP BY h, m HAVING COUNT(*) > 0 ORDER BY 1, 2;
SELECT status, COUNT(*) AS n FROM hits GROUP BY status HAVING COUNT(*) > 0 ORDER BY status;
SELECT FLOOR(status / 100) AS class, COUNT(*) AS n FROM hits GROUP BY class HAVING n > 0 ORDER BY class;
SELECT SUM(CASE WHEN status >= 500 THEN 1 ELSE 0 END) * 1.0 / COUNT(*) AS error_rate FROM hits;
SELECT country, AVG(ms) AS latency, COUNT(*) AS n FROM hits GROUP BY country ORDER BY latency DESC;
SELECT country, ROUND(AVG(ms)) AS latency FROM hits GROUP BY country ORDER BY country;
SELECT country, ROUND(AVG(ms) / 1000, 3) AS seconds FROM hits GROUP BY country ORDER BY country;
SELECT country, SUM(bytes) / 1024.0 / 1024.0 AS mb FROM hits GROUP BY country;
SELECT url, COUNT(*) AS hits FROM hits WHERE status = 200 GROUP BY url ORDER BY hits DESC, url LIMIT 5;
SELECT SPLIT_PART(url, '/', 2) AS section, COUNT(*) AS n FROM hits GROUP BY section ORDER BY section;
SELECT url LIKE '/shop%' AS shop, COUNT(*) AS n FROM hits GROUP BY shop ORDER BY shop;
SELECT browser, country, COUNT(*) AS n FROM hits GROUP BY browser, country HAVING COUNT(*) >= 10 ORDER BY browser, country;
SELECT browser, COUNT(*) AS n, AVG(ms) AS ms FROM hits GROUP BY browser HAVING AVG(ms) > 50 AND browser <> 'other' ORDER BY browser;
SELECT browser, COUNT(*) AS hits FROM hits GROUP BY browser ORDER BY browser DESC;
SELECT AVG(pages) AS pages FROM (SELECT visitor, COUNT(*) AS pages FROM hits GROUP BY visitor);
SELECT AVG(pages) AS pages FROM (SELECT visitor, COUNT(DISTINCT url) AS pages FROM hits GROUP BY visitor);
SELECT COUNT(*) AS bounces FROM (SELECT visitor, COUNT(*) AS pages FROM hits GROUP BY visitor HAVING pages = 1);
SELECT COUNT(*) AS buyers FROM (SELECT visitor FROM hits WHERE url = '/shop/pay' GROUP BY visitor);
SELECT COUNT(*) AS n FROM (SELECT DISTINCT visitor, DATE_TRUNC('day', seen) AS day FROM hits);
SELECT day, COUNT(*) AS dau FROM (SELECT DISTINCT visitor, DATE_TRUNC('day', seen) AS day FROM hits) GROUP BY day ORDER BY day;
SELECT CAST(seen AS DATE) AS day, COUNT(DISTINCT visitor) AS dau FROM hits GROUP BY day ORDER BY day;
SELECT AVG(seconds) AS session FROM (SELECT visitor, DATE_DIFF('second', MIN(seen), MAX(seen)) AS seconds FROM hits GROUP BY visitor);
SELECT AVG(minutes) AS session FROM (SELECT visitor, DATE_DIFF('minute', MIN(seen), MAX(seen)) AS minutes FROM hits GROUP BY visitor);
SELECT CASE WHEN HOUR(seen) < 12 THEN 'am' ELSE 'pm' END AS half, COUNT(*) AS n FROM hits GROUP BY half ORDER BY half;
SELECT CASE WHEN ms < 50 THEN 1 WHEN ms < 100 THEN 2 ELSE 3 END AS bin, COUNT(*) AS n FROM hits GROUP BY bin ORDER BY bin;
SELECT LOG10(AVG(ms)) AS log_ms, SQRT(AVG(ms)) AS root, EXP(AVG(ms) / 100) AS e FROM hits;
SELECT GREATEST(AVG(ms), 10) AS at_least, LEAST(COUNT(*), 100) AS at_most FROM hits;
SELECT ABS(AVG(ms) - 100) AS off FROM hits;
SELECT POWER(STDDEV(ms), 2) AS v FROM hits;
SELECT COUNT(*) / COUNT(DISTINCT visitor) AS per_visitor FROM hits;
SELECT country, COUNT(*) / COUNT(DISTINCT visitor) AS per_visitor FROM hits GROUP BY country;
SELECT country, COUNT(*) AS n FROM hits GROUP BY country HAVING country LIKE 'D%';
SELECT UPPER(country) AS c, COUNT(*) AS n FROM hits GROUP BY country ORDER BY c;
SELECT LENGTH(country) AS l, COUNT(*) AS n FROM hits GROUP BY country ORDER BY country;
SELECT country || '/' || browser AS pair, COUNT(*) AS n FROM hits GROUP BY country, browser ORDER BY pair;
SELECT CONCAT(country, '-', browser) AS pair, COUNT(*) AS n FROM hits GROUP BY country, browser ORDER BY pair;
SELECT EXTRACT(dow FROM seen) AS dow, EXTRACT(hour FROM seen) AS h, COUNT(*) AS n FROM hits GROUP BY dow, h HAVING COUNT(*) > 0 ORDER BY dow, h;
SELECT AVG(EXTRACT(EPOCH FROM last) - EXTRACT(EPOCH FROM first)) AS e FROM (SELECT visitor, MIN(seen) AS first, MAX(seen) AS last FROM hits GROUP BY visitor);
-- refused: is date
SELECT MAX(seen) AS last FROM hits;
SELECT DATE_PART('dow', seen) AS dow, COUNT(*) AS n FROM hits GROUP BY 1 ORDER BY 1;
-- plain: SELECT extract(hour FROM seen), count(*) FROM hits GROUP BY 1 ORDER BY 1
SELECT DATEPART(hour, seen) AS h, COUNT(*) AS n FROM hits GROUP BY DATEPART(hour, seen) ORDER BY 1;
-- refused: EXTRACT(month FROM d)
SELECT STRFTIME(seen, '%H:00') AS h, COUNT(*) AS n FROM hits GROUP BY h ORDER BY h;
-- plain: SELECT strftime(seen, '%Y-%m-%d') AS d, count(*) AS n FROM hits GROUP BY d ORDER BY d
SELECT TO_CHAR(seen, 'YYYY-MM-DD') AS d, COUNT(*) AS n FROM hits GROUP BY d ORDER BY d;
-- plain: SELECT strftime(seen, '%Y-%m-%d') AS d, count(*) AS n FROM hits GROUP BY d ORDER BY d
SELECT DATE_FORMAT(seen, '%Y-%m-%d') AS d, COUNT(*) AS n FROM hits GROUP BY d ORDER BY d;
-- about 3
SELECT country, APPROX_QUANTILE(ms, 0.5) AS p50 FROM hits GROUP BY country;
-- about 3
SELECT PERCENTILE_CONT(0.95) WITHIN GROUP (ORDER BY ms) AS p95 FROM hits;
-- refused: is an interval
SELECT AVG(gap) FROM (SELECT visitor, seen - LAG(seen) OVER (PARTITION BY visitor ORDER BY seen) AS gap FROM hits);
-- refused: run to run
SELECT COUNT(*) FROM hits WHERE seen > NOW() - INTERVAL 1 DAY;
-- refused: would be released
SELECT url, COUNT(*) FROM hits;
-- plain: SELECT COUNT(DISTINCT (url, browser)) FROM hits
SELECT COUNT(DISTINCT url, browser) FROM hits;
SELECT status, n, n / SUM(n) OVER () AS share FROM (SELECT status, COUNT(*) AS n FROM hits GROUP BY status) ORDER BY status;
WITH h AS (SELECT DATE_TRUNC('hour', seen) AS h, COUNT(*) AS n FROM hits GROUP BY h) SELECT h, n, n - LAG(n) OVER (ORDER BY h) AS change, n / LAG(n) OVER (ORDER BY h) - 1 AS growth FROM h ORDER BY h;
WITH e AS (SELECT browser, COUNT(*) AS n FROM hits WHERE status >= 400 GROUP BY browser), a AS (SELECT browser, COUNT(*) AS n FROM hits GROUP BY browser) SELECT a.browser, 100.0 * e.n / a.n AS error_rate FROM a LEFT JOIN e ON a.browser = e.browser ORDER BY 1;
SELECT browser, SUM(CASE WHEN status >= 400 THEN 1 ELSE 0 END) / COUNT(*) AS rate, RANK() OVER (ORDER BY SUM(CASE WHEN status >= 400 THEN 1 ELSE 0 END) DESC) AS r FROM hits GROUP BY browser ORDER BY browser;
SELECT country, browser, COUNT(*) AS n, SUM(COUNT(*)) OVER (PARTITION BY country) AS in_country FROM hits GROUP BY country, browser ORDER BY country, browser;
SELECT country, MAX(n) AS top_browser FROM (SELECT country, browser, COUNT(*) AS n FROM hits GROUP BY country, browser) GROUP BY country ORDER BY country;
SELECT country, ARG_MAX(browser, n) AS best FROM (SELECT country, browser, COUNT(*) AS n FROM hits GROUP BY country, browser) GROUP BY country ORDER BY country;
SELECT country, browser, AVG(ms) AS ms FROM hits GROUP BY ROLLUP (country, browser) ORDER BY country, browser;
SELECT country, COUNT(*) AS n, COUNT(DISTINCT visitor) AS visitors FROM hits GROUP BY ROLLUP (country) ORDER BY country;
SELECT MEDIAN(n) AS usual FROM (SELECT country, COUNT(*) AS n FROM hits GROUP BY country);
SELECT url, n FROM (SELECT url, COUNT(*) AS n FROM hits GROUP BY url) WHERE url LIKE '/shop%' ORDER BY url;
SELECT LEFT(url, 5) AS part, SUM(n) AS n FROM (SELECT url, COUNT(*) AS n FROM hits GROUP BY url) GROUP BY 1 ORDER BY 1;
SELECT STRING_AGG(country, ', ' ORDER BY country) AS countries FROM (SELECT country, COUNT(*) AS n FROM hits GROUP BY country) WHERE n > 10;
SELECT browser, n, CASE WHEN n >= 0.3 * SUM(n) OVER () THEN 'main' ELSE 'rest' END AS kind FROM (SELECT browser, COUNT(*) AS n FROM hits GROUP BY browser) ORDER BY browser;
SELECT COUNT(*) AS n FROM hits WHERE REGEXP_MATCHES(url, '^/shop');
SELECT COUNT(*) AS n FROM hits WHERE url ~ '^/(blog|about)';
SELECT COUNT(*) AS n FROM hits WHERE NOT REGEXP_MATCHES(url, '/[ab]$');
SELECT REPLACE(url, '/blog/', 'b:') AS page, COUNT(*) AS n FROM hits GROUP BY 1 ORDER BY 1;
SELECT country || '/' || browser AS client, COUNT(DISTINCT visitor) AS people FROM hits GROUP BY 1 ORDER BY 1;
SELECT STRFTIME('%Y-%m-%d %H', seen) AS hour, COUNT(*) AS n FROM hits GROUP BY 1 ORDER BY 1;
