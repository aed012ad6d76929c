SELECT dept, COUNT(*) AS heads, AVG(salary) AS pay FROM staff GROUP BY dept ORDER BY dept;
SELECT dept, SUM(salary) AS salary FROM staff GROUP BY dept HAVING AVG(salary) > 100 ORDER BY dept;
SELECT dept, SUM(salary) AS salary FROM staff GROUP BY dept ORDER BY AVG(salary);
SELECT FLOOR(rating / 2) AS rating, COUNT(*) AS n FROM staff GROUP BY 1 HAVING AVG(rating) > 2.1;
SELECT FLOOR(age / 10) AS age, COUNT(*) AS n FROM staff GROUP BY age HAVING COUNT(*) > 0;
SELECT sex AS dept, dept AS sex, COUNT(*) AS n FROM staff GROUP BY sex, dept HAVING dept > 'b' ORDER BY 1, 2;
SELECT public.staff.dept, COUNT(*) AS n FROM public.staff GROUP BY public.staff.dept;
-- plain: SELECT dept, count(*) AS n FROM staff GROUP BY dept
SELECT `dept`, COUNT(*) AS n FROM `staff` GROUP BY `dept`;
SELECT s.dept, s.sex, AVG(s.salary) AS pay FROM staff s GROUP BY s.dept, s.sex ORDER BY s.dept, s.sex;
SELECT dept, AVG(CASE WHEN sex = 'f' THEN salary END) - AVG(CASE WHEN sex = 'm' THEN salary END) AS gap FROM staff GROUP BY dept;
SELECT dept, AVG(salary) FILTER (WHERE sex = 'f') / AVG(salary) FILTER (WHERE sex = 'm') AS ratio FROM staff GROUP BY dept;
SELECT dept, AVG(salary) / 12 AS monthly FROM staff GROUP BY dept;
SELECT dept, ROUND(AVG(salary) / 12, 2) AS monthly FROM staff GROUP BY dept ORDER BY dept;
SELECT dept, ROUND(AVG(salary), -3) AS thousands FROM staff GROUP BY dept ORDER BY dept;
SELECT dept, FLOOR(AVG(salary)) AS down, CEIL(AVG(salary)) AS up FROM staff GROUP BY dept ORDER BY dept;
SELECT dept, TRUNC(AVG(salary)) AS t, SIGN(AVG(salary) - 3000) AS s FROM staff GROUP BY dept ORDER BY dept;
SELECT dept, CAST(AVG(salary) AS BIGINT) AS pay FROM staff GROUP BY dept ORDER BY dept;
SELECT dept, AVG(salary)::DOUBLE AS pay FROM staff GROUP BY dept ORDER BY dept;
-- about 1e-4
SELECT dept, COUNT(*)::FLOAT / 7 AS x FROM staff GROUP BY dept ORDER BY dept;
SELECT YEAR(hired) AS y, COUNT(*) AS n FROM staff GROUP BY y HAVING COUNT(*) > 0 ORDER BY y;
SELECT hired, COUNT(*) AS n FROM staff GROUP BY hired HAVING COUNT(*) > 3 ORDER BY hired;
SELECT DATE_TRUNC('year', hired) AS y, AVG(salary) AS pay FROM staff GROUP BY y ORDER BY y;
SELECT AVG(DATE_DIFF('year', hired, DATE '2026-06-30')) AS tenure FROM staff;
SELECT AVG(DATE '2026-06-30' - hired) AS days FROM staff;
SELECT CASE WHEN DATE_DIFF('year', hired, DATE '2026-06-30') >= 5 THEN 'old' ELSE 'new' END AS tenure, AVG(salary) AS pay FROM staff GROUP BY tenure ORDER BY tenure;
SELECT COUNT(*) AS n FROM staff WHERE hired < DATE '2026-01-01' - INTERVAL 3 YEAR;
SELECT COUNT(*) AS n FROM staff WHERE hired + INTERVAL '1' MONTH > DATE '2024-06-01';
-- plain: SELECT count(*) FROM staff WHERE hired + INTERVAL 30 DAY > DATE '2024-06-01'
SELECT COUNT(*) AS n FROM staff WHERE DATEADD(day, 30, hired) > '2024-06-01';
-- plain: SELECT count(*) FROM staff WHERE hired + INTERVAL 3 MONTH > DATE '2024-06-01'
SELECT COUNT(*) AS n FROM staff WHERE ADD_MONTHS(hired, 3) > '2024-06-01';
-- plain: SELECT count(*) FROM staff WHERE DATE '2026-06-30' - hired > 1000
SELECT COUNT(*) AS n FROM staff WHERE DATEDIFF('2026-06-30', hired) > 1000;
SELECT EXTRACT(month FROM hired + INTERVAL 6 MONTH) AS m, COUNT(*) AS n FROM staff GROUP BY m ORDER BY m;
SELECT COUNT(*) AS n FROM staff WHERE LAST_DAY(hired) < DATE '2024-06-01';
-- plain: SELECT count(*) FROM staff WHERE hired + INTERVAL 30 DAY > DATE '2024-06-01'
SELECT COUNT(*) AS n FROM staff WHERE DATE_ADD(hired, INTERVAL 30 DAY) > '2024-06-01';
SELECT manager, COUNT(*) AS n FROM staff GROUP BY manager ORDER BY manager;
SELECT COUNT(*) AS n FROM staff WHERE manager AND NOT sex = 'f';
SELECT COUNT(*) AS n FROM staff WHERE manager IS TRUE OR rating IS NULL;
SELECT AVG(rating) AS r, COUNT(rating) AS rated FROM staff;
SELECT COALESCE(CAST(rating AS VARCHAR), 'none') AS r, COUNT(*) AS n FROM staff GROUP BY r ORDER BY r;
-- about 0.01
SELECT CORR(salary, age) AS r, REGR_SLOPE(salary, age) AS slope FROM staff;
SELECT COVAR_SAMP(salary, age) AS c, COVAR_POP(salary, age) AS p FROM staff;
SELECT dept, VAR_SAMP(salary) AS v, STDDEV_SAMP(salary) AS s FROM staff GROUP BY dept;
SELECT dept, STDDEV(salary) / AVG(salary) AS cv FROM staff GROUP BY dept;
SELECT dept, COUNT(*) AS n, CASE dept WHEN 'ops' THEN 1 ELSE 0 END AS is_ops FROM staff GROUP BY dept ORDER BY dept;
SELECT dept, COUNT(*) AS n FROM staff GROUP BY dept ORDER BY CASE dept WHEN 'ops' THEN 0 ELSE 1 END, dept;
SELECT dept, COUNT(*) AS n FROM staff GROUP BY dept HAVING n BETWEEN 1 AND 100000 ORDER BY n, dept;
SELECT dept, COUNT(*) AS n FROM staff GROUP BY dept HAVING SUM(salary) IS NOT NULL AND n > 1 ORDER BY dept;
SELECT dept, COUNT(*) AS n FROM staff GROUP BY dept HAVING NOT (n < 5 OR dept = 'hr') ORDER BY dept;
SELECT SUM(salary) AS s, s / COUNT(*) AS mean, mean / 12 AS monthly FROM staff;
SELECT 'all' AS what, COUNT(*) AS n FROM staff;
SELECT COUNT(*) AS n, NULL AS nothing FROM staff;
SELECT COUNT(*) > 10 AS many FROM staff;
SELECT IF(COUNT(*) > 10, 'many', 'few') AS size FROM staff;
SELECT dept, NULLIF(COUNT(*), 0) AS n FROM staff GROUP BY dept ORDER BY dept;
SELECT dept, COUNT(*) % 2 AS odd FROM staff GROUP BY dept ORDER BY dept;
-- about 60
SELECT dept, MIN(salary) AS low, MAX(salary) AS high FROM staff GROUP BY dept;
-- refused: rows cannot be released
SELECT dept, AVG(salary) OVER (PARTITION BY dept) FROM staff;
-- refused: no column salry
SELECT AVG(salry) FROM staff;
-- refused: no function
SELECT AVRAGE(salary) FROM staff;
-- refused: no table
SELECT COUNT(*) FROM employees;
SELECT dept, pay, pay - AVG(pay) OVER () AS beyond FROM (SELECT dept, AVG(salary) AS pay FROM staff GROUP BY dept) ORDER BY dept;
WITH f AS (SELECT dept, AVG(salary) AS pay FROM staff WHERE sex = 'f' GROUP BY dept), m AS (SELECT dept, AVG(salary) AS pay FROM staff WHERE sex = 'm' GROUP BY dept) SELECT dept, f.pay - m.pay AS gap, f.pay / m.pay AS ratio FROM f JOIN m USING (dept) ORDER BY dept;
SELECT dept, sex, n, n / SUM(n) OVER (PARTITION BY dept) AS share FROM (SELECT dept, sex, COUNT(*) AS n FROM staff GROUP BY dept, sex) ORDER BY dept, sex;
SELECT dept, COUNT(*) AS n, DENSE_RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM staff GROUP BY dept ORDER BY dept;
SELECT dept, sex, COUNT(*) AS n, SUM(salary) AS s FROM staff GROUP BY CUBE (dept, sex) ORDER BY dept, sex;
SELECT y, n, SUM(n) OVER (ORDER BY y) AS so_far FROM (SELECT YEAR(hired) AS y, COUNT(*) AS n FROM staff GROUP BY y) ORDER BY y;
SELECT COUNT(*) AS depts FROM (SELECT dept, AVG(salary) AS pay FROM staff GROUP BY dept) WHERE pay > 1000;
SELECT dept, ROUND(pay / 1000, 1) AS k, CAST(pay AS INTEGER) AS whole FROM (SELECT dept, AVG(salary) AS pay FROM staff GROUP BY dept) ORDER BY dept;
SELECT SUM(n * pay) / SUM(n) AS mean FROM (SELECT dept, COUNT(*) AS n, AVG(salary) AS pay FROM staff GROUP BY dept);
SELECT dept, COALESCE(LAG(n) OVER (ORDER BY dept), 0) AS before FROM (SELECT dept, COUNT(*) AS n FROM staff GROUP BY dept) ORDER BY dept;
SELECT * EXCLUDE (s) FROM (SELECT dept, COUNT(*) AS n, SUM(salary) AS s FROM staff GROUP BY dept) ORDER BY dept;
SELECT dept, sex, COUNT(*) AS n FROM staff GROUP BY ROLLUP (dept), sex ORDER BY dept, sex;
SELECT dept, n FROM (SELECT dept, COUNT(*) AS n FROM staff GROUP BY dept) EXCEPT SELECT dept, n FROM (SELECT dept, COUNT(*) AS n FROM staff GROUP BY dept HAVING dept = 'hr') ORDER BY dept;
SELECT COUNT(*) AS n FROM staff WHERE salary > (SELECT AVG(salary) FROM staff);
SELECT dept, COUNT(*) AS n FROM staff WHERE salary > 1.5 * (SELECT AVG(salary) FROM staff WHERE sex = 'f') GROUP BY dept ORDER BY dept;
-- plain: SELECT CASE WHEN age < 20 THEN 0 WHEN age >= 60 THEN 5 ELSE FLOOR((age - 20) / 10) + 1 END AS band, COUNT(*) AS n FROM staff GROUP BY 1 ORDER BY 1
SELECT WIDTH_BUCKET(age, 20, 60, 4) AS band, COUNT(*) AS n FROM staff GROUP BY 1 HAVING COUNT(*) > 5 ORDER BY 1;
-- plain: SELECT SUM(CASE WHEN rating IS NOT NULL THEN 1 ELSE 0 END) AS rated FROM staff
SELECT SUM(NVL2(rating, 1, 0)) AS rated FROM staff;
-- plain: SELECT AVG(COALESCE(rating, 0)) AS rating FROM staff
SELECT AVG(ZEROIFNULL(rating)) AS rating FROM staff;
-- plain: SELECT IF(salary > 5000, 'high', 'low') AS pay, COUNT(*) AS n FROM staff GROUP BY 1
SELECT IFF(salary > 5000, 'high', 'low') AS pay, COUNT(*) AS n FROM staff GROUP BY 1;
-- plain: SELECT COUNT(*) AS n FROM staff WHERE hired >= DATE '2020-01-01'
SELECT COUNT(*) AS n FROM staff WHERE hired >= TO_DATE('2020-01-01');
SELECT STRFTIME(hired, '%m') AS month, COUNT(*) AS n FROM staff GROUP BY 1 ORDER BY 1;
SELECT SUM(DISTINCT salary) AS s FROM staff;
SELECT dept, SUM(DISTINCT rating) AS s, COUNT(*) AS n FROM staff GROUP BY dept ORDER BY dept;
SELECT dept, SUM(DISTINCT 3 - rating) AS s, AVG(DISTINCT age) AS a FROM staff GROUP BY dept ORDER BY dept;
SELECT sex, SUM(DISTINCT age) FILTER (WHERE manager) - SUM(DISTINCT age) AS d FROM staff GROUP BY sex ORDER BY sex;
SELECT AVG(DISTINCT age) FILTER (WHERE manager) AS d FROM staff;
