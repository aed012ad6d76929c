SELECT COUNT(*) AS orders, COUNT(DISTINCT customer) AS customers FROM orders;
SELECT category, SUM(price * quantity) AS revenue FROM orders GROUP BY category ORDER BY revenue DESC;
SELECT category, SUM(price * quantity) AS revenue, SUM(quantity) AS items, SUM(price * quantity) / SUM(quantity) AS per_item FROM orders GROUP BY category;
SELECT channel, AVG(price * quantity) AS basket FROM orders GROUP BY channel HAVING COUNT(*) > 50;
SELECT DATE_TRUNC('week', ordered) AS week, SUM(price * quantity) AS revenue FROM orders GROUP BY week ORDER BY week;
SELECT YEAR(ordered) AS y, MONTH(ordered) AS m, COUNT(*) AS n FROM orders GROUP BY y, m HAVING COUNT(*) > 0 ORDER BY y, m;
SELECT p.brand, SUM(o.quantity) AS items FROM orders o INNER JOIN products p ON o.product = p.product GROUP BY p.brand ORDER BY items DESC;
SELECT p.brand, o.channel, COUNT(*) AS n FROM orders AS o JOIN products AS p USING (product) GROUP BY 1, 2 ORDER BY 1, 2;
SELECT channel, COUNT(*) * 1.0 / 3 AS third FROM orders GROUP BY channel;
SELECT channel, SUM(quantity) AS quantity FROM orders GROUP BY channel HAVING AVG(quantity) > 1;
SELECT channel, SUM(quantity) AS quantity FROM orders GROUP BY channel HAVING quantity > 10 ORDER BY quantity;
SELECT FLOOR(quantity / 2) AS quantity, COUNT(*) AS n FROM orders GROUP BY quantity ORDER BY 1, 2;
SELECT FLOOR(price / 10) AS price, COUNT(*) AS n FROM orders GROUP BY 1 ORDER BY price;
SELECT category AS channel, channel AS category, COUNT(*) AS n FROM orders GROUP BY category, channel HAVING channel = 'web' ORDER BY 1, 2;
SELECT ROUND(AVG(price), 2) AS mean, ROUND(STDDEV(price), 2) AS sd FROM orders;
SELECT ROUND(SUM(price * quantity)) AS revenue FROM orders;
SELECT ROUND(SUM(price * quantity) / COUNT(DISTINCT customer), 2) AS per_customer FROM orders;
SELECT category, ROUND(SUM(price * quantity) / 1000.0, 1) AS thousands FROM orders GROUP BY category ORDER BY category;
SELECT category, COALESCE(SUM(price) / NULLIF(SUM(quantity), 0), 0) AS x FROM orders GROUP BY category;
-- about 1
SELECT AVG(total) AS mean, STDDEV(total) AS sd FROM (SELECT customer, SUM(price * quantity) AS total FROM orders GROUP BY customer);
SELECT segment, COUNT(*) AS customers FROM (SELECT customer, CASE WHEN SUM(price * quantity) > 200 THEN 'big' ELSE 'small' END AS segment FROM orders GROUP BY customer) GROUP BY segment ORDER BY segment;
SELECT COUNT(*) AS repeaters FROM (SELECT customer FROM orders GROUP BY customer HAVING COUNT(*) > 1);
SELECT COUNT(*) AS both FROM (SELECT customer FROM orders GROUP BY customer HAVING SUM(CASE WHEN channel = 'web' THEN 1 ELSE 0 END) > 0 AND SUM(CASE WHEN channel = 'shop' THEN 1 ELSE 0 END) > 0);
WITH firsts AS (SELECT customer, MIN(ordered) AS first FROM orders GROUP BY customer) SELECT DATE_TRUNC('week', first) AS cohort, COUNT(*) AS n FROM firsts GROUP BY cohort HAVING COUNT(*) > 3 ORDER BY cohort;
WITH web AS (SELECT customer, price FROM orders WHERE channel = 'web') SELECT COUNT(*) AS n, AVG(price) AS price FROM web;
SELECT COUNT(*) AS n FROM orders o WHERE o.product IN (SELECT product FROM products WHERE brand = 'acme');
SELECT COUNT(*) AS n FROM orders WHERE price > 20 AND quantity BETWEEN 2 AND 4;
SELECT COUNT(*) AS n FROM orders WHERE channel IN ('web', 'phone') AND NOT category = 'toys';
SELECT channel, COUNT(*) AS n FROM orders GROUP BY channel ORDER BY COUNT(*) DESC LIMIT 2;
-- plain: SELECT channel, count(*) AS n FROM orders GROUP BY channel ORDER BY n DESC LIMIT 2
SELECT TOP 2 channel, COUNT(*) AS n FROM orders GROUP BY channel ORDER BY n DESC;
-- plain: SELECT channel, count(*) AS n FROM orders GROUP BY channel ORDER BY n DESC LIMIT 2
SELECT TOP (2) [channel], COUNT(*) AS n FROM [dbo].[orders] GROUP BY [channel] ORDER BY n DESC;
SELECT channel, COUNT(*) AS n FROM orders GROUP BY channel ORDER BY n DESC FETCH FIRST 1 ROWS ONLY;
SELECT channel, MAX(quantity) - MIN(quantity) AS spread FROM orders GROUP BY channel HAVING COUNT(*) < 0;
SELECT category, SUM(quantity) FILTER (WHERE channel = 'web') AS web, SUM(quantity) FILTER (WHERE channel <> 'web') AS other FROM orders GROUP BY category;
SELECT category, SUM(IF(channel = 'web', quantity, 0)) * 100.0 / SUM(quantity) AS pct FROM orders GROUP BY category;
SELECT COUNT_IF(price > 50) AS n FROM orders;
SELECT category, IFNULL(AVG(price), 0) AS price FROM orders GROUP BY category;
-- plain: SELECT category, avg(coalesce(price, 0)) FROM orders GROUP BY category
SELECT category, AVG(ISNULL(price, 0)) AS price FROM orders GROUP BY category;
-- plain: SELECT category, avg(coalesce(price, 0)) FROM orders GROUP BY category
SELECT category, AVG(NVL(price, 0)) AS price FROM orders GROUP BY category;
-- plain: SELECT var_samp(price), stddev_samp(price), avg(price) FROM orders
SELECT VAR(price) AS v, STD(price) AS s, MEAN(price) AS m FROM orders;
-- plain: SELECT stddev_pop(price), var_pop(price) FROM orders
SELECT STDDEV_POP(price) AS s, VAR_POP(price) AS v FROM orders;
SELECT APPROX_COUNT_DISTINCT(product) AS products FROM orders WHERE FALSE;
-- plain: SELECT count(DISTINCT product) FROM orders
SELECT APPROX_COUNT_DISTINCT(product) AS products FROM orders;
SELECT LOWER(TRIM(channel)) AS c, COUNT(*) AS n FROM orders GROUP BY c ORDER BY c;
SELECT SUBSTRING(product, 1, 2) AS kind, COUNT(*) AS n FROM orders GROUP BY kind ORDER BY kind;
SELECT LEFT(category, 1) AS initial, SUM(quantity) AS q FROM orders GROUP BY 1 ORDER BY 1;
SELECT channel, SUM(price * quantity) AS revenue, CASE WHEN SUM(price * quantity) > 20000 THEN 'A' WHEN SUM(price * quantity) > 1000 THEN 'B' ELSE 'C' END AS class FROM orders GROUP BY channel ORDER BY channel;
SELECT COUNT(*) AS n FROM orders WHERE '5' = quantity;
SELECT MOD(order_id, 10) AS digit, COUNT(*) AS n FROM orders GROUP BY digit ORDER BY digit;
SELECT order_id % 2 AS parity, COUNT(*) AS n FROM orders GROUP BY parity ORDER BY parity;
SELECT (quantity > 2) AS bulk, COUNT(*) AS n FROM orders GROUP BY bulk ORDER BY bulk;
SELECT customer % 2 AS half, AVG(price) AS price FROM orders GROUP BY half ORDER BY half;
SELECT category, SUM(quantity) / SUM(SUM(quantity)) OVER () AS share FROM orders GROUP BY category;
SELECT 'web' AS c, COUNT(*) FROM orders WHERE channel = 'web' UNION ALL SELECT 'all', COUNT(*) FROM orders;
-- refused: joined on the unit
SELECT COUNT(*) FROM orders a JOIN orders b ON a.product = b.product;
SELECT category, channel, COUNT(*) AS n FROM orders GROUP BY ROLLUP (category, channel);
-- refused: LIMIT inside FROM
SELECT AVG(price) FROM (SELECT price FROM orders ORDER BY price DESC LIMIT 10);
SELECT SUM(DISTINCT price) FROM orders;
SELECT category, revenue, RANK() OVER (ORDER BY revenue DESC) AS r FROM (SELECT category, SUM(price * quantity) AS revenue FROM orders GROUP BY category) ORDER BY r;
WITH m AS (SELECT DATE_TRUNC('week', ordered) AS w, SUM(quantity) AS q FROM orders GROUP BY w) SELECT w, q, SUM(q) OVER (ORDER BY w) AS running, AVG(q) OVER (ORDER BY w ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving FROM m ORDER BY w;
SELECT channel, n, ROUND(100.0 * n / SUM(n) OVER (), 1) AS pct FROM (SELECT channel, COUNT(*) AS n FROM orders GROUP BY channel) ORDER BY n DESC;
SELECT category, channel, n FROM (SELECT category, channel, COUNT(*) AS n FROM orders GROUP BY category, channel) QUALIFY ROW_NUMBER() OVER (PARTITION BY category ORDER BY n DESC) = 1 ORDER BY category;
WITH w AS (SELECT category, SUM(quantity) AS q FROM orders WHERE channel = 'web' GROUP BY category), s AS (SELECT category, SUM(quantity) AS q FROM orders WHERE channel = 'shop' GROUP BY category) SELECT category, w.q AS web, s.q AS shop, w.q / s.q AS ratio FROM w JOIN s USING (category) ORDER BY category;
SELECT category, channel, SUM(quantity) AS q FROM orders GROUP BY ROLLUP (category, channel) ORDER BY category, channel;
SELECT channel, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS total, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM orders GROUP BY channel ORDER BY channel;
SELECT channel, AVG(price) AS p, AVG(price) - AVG(AVG(price)) OVER () AS beyond FROM orders GROUP BY channel ORDER BY channel;
SELECT COUNT(*) AS busy FROM (SELECT category, channel, COUNT(*) AS n FROM orders GROUP BY 1, 2) WHERE n > 300;
SELECT DISTINCT big FROM (SELECT category, COUNT(*) > 100 AS big FROM orders GROUP BY category);
SELECT category, LN(n) AS l, SQRT(n) AS r, POWER(n, 2) AS p FROM (SELECT category, COUNT(*) AS n FROM orders GROUP BY category) ORDER BY category;
SELECT category, FIRST_VALUE(category) OVER (ORDER BY n DESC) AS best FROM (SELECT category, COUNT(*) AS n FROM orders GROUP BY category) ORDER BY category;
SELECT category, NTILE(2) OVER (ORDER BY s) AS half FROM (SELECT category, SUM(quantity) AS s FROM orders GROUP BY category) ORDER BY category;
SELECT a.category AS one, b.category AS two, a.n - b.n AS difference FROM (SELECT category, COUNT(*) AS n FROM orders GROUP BY category) a, (SELECT category, COUNT(*) AS n FROM orders GROUP BY category) b WHERE a.category < b.category ORDER BY 1, 2;
SELECT category, n FROM (SELECT category, COUNT(*) AS n FROM orders GROUP BY category) UNION ALL SELECT 'all', SUM(n) FROM (SELECT category, COUNT(*) AS n FROM orders GROUP BY category) ORDER BY n, category;
SELECT COUNT(*) AS n FROM (SELECT customer, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY order_id) AS rn FROM orders) AS q WHERE rn = 1;
SELECT AVG(price) AS first_price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY order_id) AS rn FROM orders) AS q WHERE rn = 1;
WITH ranked AS (SELECT category, price, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY order_id DESC) AS rn FROM orders) SELECT category, COUNT(*) AS n, SUM(price) AS revenue FROM ranked WHERE rn <= 2 GROUP BY category ORDER BY category;
SELECT channel, COUNT(*) AS n FROM (SELECT channel, ROW_NUMBER() OVER (PARTITION BY customer, channel ORDER BY order_id) AS rn FROM orders WHERE price > 20) AS q WHERE rn = 1 GROUP BY channel ORDER BY channel;
SELECT AVG(middle) AS typical FROM (SELECT customer, MEDIAN(quantity) AS middle FROM orders GROUP BY customer);
SELECT AVG(LEAST(GREATEST(d, -60), 60)) AS days FROM (SELECT DATE_DIFF('day', LAG(ordered) OVER (PARTITION BY customer ORDER BY order_id), ordered) AS d FROM orders);
SELECT COUNT(*) AS n FROM (SELECT channel, LAG(channel) OVER (PARTITION BY customer ORDER BY order_id) AS before FROM orders) WHERE channel <> before;
SELECT channel, after, COUNT(*) AS n FROM (SELECT channel, LEAD(channel) OVER (PARTITION BY customer ORDER BY order_id) AS after FROM orders) WHERE after IN ('web', 'shop', 'phone') GROUP BY ALL ORDER BY 1, 2;
SELECT AVG(rise) AS rise FROM (SELECT price - LAG(price) OVER (PARTITION BY customer ORDER BY order_id) AS rise FROM orders);
SELECT category, COUNT(*) AS n FROM (SELECT DISTINCT ON (customer) category FROM orders ORDER BY customer, order_id) GROUP BY category ORDER BY category;
SELECT category, SUM(price) AS revenue FROM (SELECT * FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY customer ORDER BY order_id) <= 2) GROUP BY category ORDER BY category;
SELECT COUNT(*) AS n FROM (SELECT order_id, SUM(quantity) OVER (PARTITION BY customer ORDER BY order_id) AS so_far FROM orders) WHERE so_far > 6;
SELECT AVG(moving) AS m FROM (SELECT AVG(quantity) OVER (PARTITION BY customer ORDER BY order_id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving FROM orders);
SELECT category, AVG(most - price) AS below FROM (SELECT category, price, MAX(price) OVER (PARTITION BY customer) AS most FROM orders) GROUP BY category ORDER BY category;
SELECT COUNT(*) AS n FROM (SELECT price, AVG(price) OVER (PARTITION BY customer) AS own FROM orders) WHERE price > own + 0.005;
SELECT first, COUNT(*) AS n FROM (SELECT FIRST_VALUE(channel) OVER (PARTITION BY customer ORDER BY order_id) AS first FROM orders) GROUP BY first ORDER BY first;
SELECT COUNT(*) AS n FROM (SELECT RANK() OVER (PARTITION BY customer ORDER BY quantity DESC) AS r, DENSE_RANK() OVER (PARTITION BY customer, channel ORDER BY quantity) AS d FROM orders) WHERE r = 1 AND d = 1;
SELECT COUNT(*) AS n FROM (SELECT customer, COUNT(*) OVER (PARTITION BY customer, category) AS c FROM orders) WHERE c >= 2;
-- refused: depends on other people's rows
SELECT AVG(price) AS p FROM (SELECT price, ROW_NUMBER() OVER (PARTITION BY channel ORDER BY order_id) AS rn FROM orders) AS q WHERE rn = 1;
