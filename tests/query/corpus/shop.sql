SELECT COUNT(*) FROM customers;
SELECT sex, COUNT(*) AS n FROM customers GROUP BY sex;
SELECT COUNT(DISTINCT customer_id) AS buyers, COUNT(*) AS orders FROM orders;
SELECT channel, COUNT(*) AS n FROM orders GROUP BY channel ORDER BY n DESC;
SELECT SUM(price * quantity) AS revenue FROM items;
SELECT kind, AVG(price) AS mean FROM items GROUP BY kind ORDER BY kind;
SELECT o.channel, SUM(i.price) AS revenue FROM items AS i JOIN orders AS o ON i.order_id = o.order_id GROUP BY o.channel;
SELECT channel, SUM(price * quantity) AS revenue FROM orders JOIN items USING (order_id) GROUP BY channel;
SELECT sex, COUNT(*) AS n FROM customers AS c JOIN orders AS o ON c.id = o.customer_id GROUP BY sex;
SELECT c.sex, SUM(i.price) AS revenue FROM customers c JOIN orders o ON o.customer_id = c.id JOIN items i ON i.order_id = o.order_id GROUP BY c.sex;
SELECT c.sex, i.kind, COUNT(*) AS n FROM items i, orders o, customers c WHERE i.order_id = o.order_id AND o.customer_id = c.id GROUP BY c.sex, i.kind;
SELECT AVG(total) AS basket FROM (SELECT order_id, SUM(price * quantity) AS total FROM items GROUP BY order_id) AS baskets;
SELECT channel, AVG(total) AS basket FROM (SELECT order_id, SUM(price) AS total FROM items GROUP BY order_id) AS t JOIN orders AS o ON t.order_id = o.order_id GROUP BY channel;
SELECT AVG(n) AS orders_each FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) AS each;
SELECT COUNT(*) AS n FROM orders AS o WHERE EXISTS (SELECT 1 FROM items AS i WHERE i.order_id = o.order_id AND i.price > 30);
SELECT COUNT(*) AS n FROM orders WHERE order_id NOT IN (SELECT order_id FROM items WHERE kind = 'a');
SELECT COUNT(*) AS n FROM orders AS o WHERE (SELECT COUNT(*) FROM items AS i WHERE i.order_id = o.order_id) >= 2;
SELECT COUNT(*) AS never FROM customers AS c LEFT JOIN orders AS o ON o.customer_id = c.id WHERE o.order_id IS NULL;
SELECT COUNT(*) AS never FROM customers WHERE id NOT IN (SELECT customer_id FROM orders);
SELECT AVG(stars) AS stars FROM notes;
SELECT kind, AVG(stars) AS stars FROM notes AS n JOIN items AS i ON n.item_id = i.item_id GROUP BY kind;
SELECT channel, COUNT(*) AS notes FROM notes AS n JOIN items AS i ON n.item_id = i.item_id JOIN orders AS o ON o.order_id = i.order_id GROUP BY channel;
WITH baskets AS (SELECT order_id, COUNT(*) AS n FROM items GROUP BY order_id) SELECT n, COUNT(*) AS baskets FROM baskets GROUP BY n HAVING COUNT(*) > 20;
-- refused: not joined on the unit
SELECT COUNT(*) FROM items AS i JOIN customers AS c ON i.order_id = c.id;
-- refused: a group of one person is never shown
SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id;
