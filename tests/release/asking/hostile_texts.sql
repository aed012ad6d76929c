-- files
SELECT * FROM read_csv('{file}')
SELECT * FROM read_csv_auto('{file}')
SELECT * FROM read_csv(['{file}'])
SELECT * FROM read_csv('{folder}/*.csv')
SELECT * FROM read_csv('file://{file}')
SELECT * FROM read_csv('{file}', header = false, delim = '|')
SELECT * FROM sniff_csv('{file}')
SELECT * FROM read_text('{file}')
SELECT * FROM read_text('{folder}/**')
SELECT content FROM read_text(['{file}', '{file}'])
SELECT * FROM read_blob('{file}')
SELECT * FROM read_json('{file}')
SELECT * FROM read_json_auto('{file}')
SELECT * FROM read_json_objects('{file}')
SELECT * FROM read_ndjson('{file}')
SELECT * FROM read_ndjson_objects('{file}')
SELECT * FROM read_parquet('{file}')
SELECT * FROM parquet_scan('{file}')
FROM parquet_metadata('{file}')
FROM parquet_schema('{file}')
FROM parquet_file_metadata('{file}')
FROM parquet_kv_metadata('{file}')
FROM parquet_bloom_probe('{file}', 'word', 1)
SELECT * FROM '{file}'
SELECT * FROM "{file}"
FROM '{folder}/*.csv'
FROM '{folder}/*'
SELECT * FROM glob('{folder}/*')
SELECT * FROM glob('/etc/*')
SELECT * FROM '/etc/passwd'
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM read_text('/proc/self/environ')
SELECT * FROM read_text('/proc/self/cmdline')
SELECT * FROM read_text('/proc/self/maps')
SELECT * FROM read_text('/dev/stdin')
SELECT * FROM read_csv('/dev/stdin')
SELECT * FROM read_csv('/dev/fd/0')
SELECT * FROM read_text('/dev/zero')
SELECT * FROM read_blob('/dev/urandom')
SELECT * FROM read_text('~/.bashrc')
SELECT * FROM read_text('../../pyproject.toml')
SELECT * FROM 'rows_worker.py'
SELECT * FROM read_text('rows_worker.py')
COPY t TO '{folder}/out.csv'
COPY t TO '{folder}/out.parquet' (FORMAT parquet)
COPY t TO '{folder}/out.json' (FORMAT json)
COPY t TO '{folder}/out' (FORMAT csv, PARTITION_BY (x))
COPY (SELECT 1) TO '{folder}/out.parquet'
COPY (SELECT * FROM read_text('{file}')) TO '{folder}/out.csv'
COPY t TO '/dev/stdout'
COPY t TO '/dev/stderr'
COPY t TO '/dev/shm/deniable-out.csv'
COPY t FROM '{file}'
COPY t FROM '/dev/stdin'
COPY FROM DATABASE memory TO memory
EXPORT DATABASE '{folder}/out'
IMPORT DATABASE '{folder}'
ATTACH '{folder}/out.db' AS other
ATTACH '{file}' AS other (READ_ONLY)
ATTACH ':memory:' AS other; CREATE TABLE other.t AS SELECT 1
ATTACH 'http://127.0.0.1:{port}/a.db' AS other
ATTACH 'dbname=postgres' AS pg (TYPE postgres)
ATTACH 'host=localhost' AS my (TYPE mysql)
ATTACH '{folder}/s.db' AS s (TYPE sqlite)
USE other
DETACH memory
CREATE TABLE copy AS SELECT * FROM read_csv('{file}')
CREATE VIEW v AS SELECT * FROM read_text('{file}')
CREATE OR REPLACE TEMP VIEW t AS SELECT * FROM read_text('{file}')
CREATE MACRO f() AS TABLE SELECT * FROM read_text('{file}')
INSERT INTO t SELECT 1, content FROM read_text('{file}')
WITH f AS (SELECT * FROM read_text('{file}')) SELECT * FROM f
SELECT (SELECT content FROM read_text('{file}'))
SELECT x FROM t WHERE name IN (SELECT content FROM read_text('{file}'))
SELECT x FROM t UNION ALL SELECT LENGTH(content) FROM read_text('{file}')
SELECT * FROM t, LATERAL (SELECT * FROM read_text('{file}')) AS f
SELECT * FROM t JOIN read_csv('{file}') AS f ON f.word = t.name
PIVOT read_csv('{file}') ON word
SUMMARIZE '{file}'
DESCRIBE SELECT * FROM '{file}'
EXPLAIN ANALYZE SELECT * FROM read_text('{file}')
PREPARE p AS SELECT * FROM read_text('{file}'); EXECUTE p
SELECT * FROM query('SELECT * FROM read_text(''{file}'')')
SELECT * FROM query_table('{file}')
SELECT * FROM query_table(['{file}'])
FROM query('COPY t TO ''{folder}/out.csv''')
SELECT * FROM sqlite_scan('{file}', 'main')
SELECT * FROM postgres_scan('', 'public', 't')
SELECT * FROM postgres_query('', 'SELECT 1')
SELECT * FROM mysql_query('', 'SELECT 1')
SELECT * FROM iceberg_scan('{folder}')
SELECT * FROM delta_scan('{folder}')
SELECT * FROM st_read('{file}')
SELECT * FROM read_xlsx('{file}')
SELECT * FROM arrow_scan(1, 2, 3)
SELECT * FROM arrow_scan_dumb(1, 2, 3)
SELECT * FROM pandas_scan(1)
SELECT * FROM python_map_function(1)
SELECT * FROM scan_arrow_ipc([])
SELECT * FROM duckdb_logs()
SELECT * FROM storage_info('{file}')
CALL read_text('{file}')
CALL force_checkpoint()
CHECKPOINT
CHECKPOINT '{file}'
VACUUM
PRAGMA import_database('{folder}')
PRAGMA storage_info('t')
PRAGMA database_list; SELECT * FROM read_text('{file}')
CALL pragma_version(); COPY t TO '{folder}/out.csv'
SELECT 1; COPY t TO '{folder}/out.csv'
SELECT 1; SELECT * FROM read_text('{file}')
SELECT * FROM read_csv('http://127.0.0.1:{port}/x')
SELECT * FROM read_text('http://127.0.0.1:{port}/x')
SELECT * FROM read_parquet('https://127.0.0.1:{port}/x')
SELECT * FROM read_parquet('s3://bucket/x')
SELECT * FROM read_csv('hf://datasets/x')
SELECT * FROM 'http://127.0.0.1:{port}/x.csv'
COPY t TO 'http://127.0.0.1:{port}/x'
COPY t TO 's3://bucket/x.parquet'
-- settings
SET enable_external_access = true
SET enable_external_access TO 'on'
SET GLOBAL enable_external_access = true
SET SESSION enable_external_access = true
SET lock_configuration = false
SET memory_limit = '100GB'
SET max_memory = '100GB'
SET temp_directory = '{folder}'
SET max_temp_directory_size = '100GB'
SET threads = 8
SET worker_threads = 8
SET external_threads = 8
SET disabled_filesystems = ''
SET allowed_directories = ['{folder}']
SET allowed_paths = ['{file}']
SET secret_directory = '{folder}'
SET extension_directory = '{folder}'
SET home_directory = '{folder}'
SET log_query_path = '{folder}/log'
SET profiling_output = '{folder}/profile'
SET enable_profiling = 'json'
SET custom_extension_repository = 'http://127.0.0.1:{port}'
SET autoinstall_known_extensions = true
SET autoload_known_extensions = true
SET allow_unsigned_extensions = true
SET allow_community_extensions = true
SET python_enable_replacements = true
SET python_scan_all_frames = true
SET http_proxy = 'http://127.0.0.1:{port}'
SET search_path = 'other'
SET schema = 'other'
SET max_expression_depth = 100000000
SET VARIABLE v = (SELECT content FROM read_text('{file}'))
RESET disabled_filesystems
RESET memory_limit
RESET ALL
PRAGMA memory_limit = '100GB'
PRAGMA threads = 8
PRAGMA enable_profiling
PRAGMA profiling_output = '{folder}/profile'
PRAGMA enable_logging
PRAGMA log_query_path = '{folder}/log'
PRAGMA disable_optimizer
PRAGMA enable_object_cache
PRAGMA temp_directory = '{folder}'
PRAGMA database_list
PRAGMA show_tables
PRAGMA user_agent
CALL enable_logging(storage = 'file', storage_path = '{folder}')
CALL enable_profiling()
INSTALL httpfs
INSTALL httpfs FROM 'http://127.0.0.1:{port}'
FORCE INSTALL postgres
LOAD httpfs
LOAD '{file}'
LOAD '{folder}/x.duckdb_extension'
UPDATE EXTENSIONS
CREATE SECRET s (TYPE s3)
CREATE PERSISTENT SECRET s (TYPE http)
CREATE FUNCTION f() AS (SELECT 1)
SELECT getenv('HOME')
SELECT getenv('PATH')
SELECT current_setting('temp_directory')
SELECT current_setting('memory_limit')
SELECT getvariable('v')
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_secrets()
SELECT * FROM duckdb_extensions()
SELECT * FROM duckdb_databases()
SELECT * FROM duckdb_tables()
SELECT * FROM duckdb_views()
SELECT * FROM duckdb_functions()
SELECT * FROM duckdb_memory()
SELECT * FROM duckdb_temporary_files()
SELECT * FROM duckdb_approx_database_count()
SELECT * FROM pragma_database_list()
SELECT * FROM pragma_database_size()
SELECT * FROM pragma_platform()
SELECT * FROM pragma_version()
SELECT * FROM information_schema.tables
SELECT * FROM pg_catalog.pg_class
SELECT * FROM sqlite_master
SELECT * FROM which_secret('s3://x', 's3')
SELECT current_database(), current_schema(), current_user, version()
SELECT txid_current(), nextval('s')
SELECT * FROM ROWS
SELECT * FROM SECRET
SELECT * FROM database
SELECT * FROM source
BEGIN; DROP TABLE t; COMMIT
DROP TABLE t
ALTER TABLE t ADD COLUMN y INTEGER
DELETE FROM t
TRUNCATE t
UPDATE t SET x = 9
SELECT write_log('{file}')
SELECT add_parquet_key('k', 'v')
-- sleeping
SELECT sleep_ms(100000)
SELECT sleep_ms(x * 100000) FROM t
SELECT pg_sleep(100)
SELECT SLEEP(100)
WAITFOR DELAY '00:10'
SELECT COUNT(*) FROM range(100000000000) AS r WHERE r.range > 5
SELECT SUM(range) FROM range(100000000000)
SELECT SUM(range * range % 7) FROM range(1000000000000)
SELECT COUNT(*) FROM generate_series(1, 100000000000)
SELECT MAX(random()) FROM range(100000000000)
SELECT COUNT(*) FROM range(1000000) AS a, range(1000000) AS b
SELECT COUNT(*) FROM range(100000) AS a JOIN range(100000) AS b ON a.range <> b.range
SELECT COUNT(*) FROM range(3000) AS a, range(3000) AS b, range(3000) AS c WHERE a.range + b.range = c.range * 7
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r LIMIT 10
WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT (n * 7) % 1000000007 FROM r) SELECT MAX(n) FROM r
WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n FROM r) SELECT n FROM r LIMIT 1
WITH RECURSIVE r AS (SELECT x FROM t UNION ALL SELECT r.x + t.x FROM r, t) SELECT COUNT(*) FROM r
SELECT SUM(range) OVER (ORDER BY hash(range)) FROM range(100000000) LIMIT 1
SELECT COUNT(DISTINCT hash(range)) FROM range(10000000000)
SELECT regexp_matches(repeat('a', 100000), '(a|aa)+$') FROM range(100000)
SELECT regexp_replace(repeat('ab', 100000), '(a*b*)*', 'x', 'g') FROM range(100000)
SELECT COUNT(*) FROM range(1000000) WHERE repeat('a', 5000) LIKE '%a%a%a%a%a%a%a%b'
SELECT COUNT(*) FROM range(10000000) WHERE repeat('a', 200) SIMILAR TO '(a|b)*c'
SELECT levenshtein(repeat('a', 100000), repeat('b', 100000))
SELECT damerau_levenshtein(repeat('a', 100000), repeat('b', 100000))
SELECT jaro_winkler_similarity(repeat('ab', 500000), repeat('ba', 500000))
SELECT editdist3(repeat('a', 100000), repeat('b', 100000))
SELECT sha256(repeat('a', 100000000)) FROM range(1000)
SELECT md5(md5(range::VARCHAR)) FROM range(100000000000) LIMIT 1 OFFSET 99999999999
SELECT list_sum(list_transform(range(100000000), lambda v: v * v))
SELECT list_reduce(range(100000000), lambda a, b: a + b)
SELECT len(list_filter(range(100000000), lambda v: v % 7 = 3))
SELECT MEDIAN(range) OVER (ROWS BETWEEN 50000 PRECEDING AND 50000 FOLLOWING) FROM range(1000000)
SELECT MODE(range % 17) OVER (ROWS BETWEEN 100000 PRECEDING AND CURRENT ROW) FROM range(1000000)
SELECT QUANTILE_CONT(range, 0.3) OVER (ROWS BETWEEN 100000 PRECEDING AND 3 FOLLOWING EXCLUDE CURRENT ROW) FROM range(1000000)
SELECT COUNT(*) FROM range(10000) AS a WHERE EXISTS (SELECT 1 FROM range(100000) AS b WHERE b.range * b.range = a.range + 0.5)
SELECT (SELECT SUM(b.range % (a.range + 1)) FROM range(100000) AS b) FROM range(100000) AS a
SELECT a.range FROM range(100000) AS a ORDER BY (SELECT COUNT(*) FROM range(100000) AS b WHERE b.range > a.range)
SELECT COUNT(*) FROM range(100000) AS a ASOF JOIN range(100000000) AS b ON a.range >= b.range
SELECT COUNT(*) FROM range(100000) AS a JOIN range(100000) AS b ON a.range BETWEEN b.range - 50000 AND b.range + 50000
SELECT power(1.0000001, range) FROM range(1000000000) LIMIT 1 OFFSET 999999999
SELECT factorial(33) * range FROM range(10000000000) LIMIT 1 OFFSET 9999999999
SELECT bar(range, 0, 100000, 100000) FROM range(100000000) LIMIT 1 OFFSET 99999999
SELECT COUNT(*) FROM (SELECT range FROM range(100000000) ORDER BY hash(range))
SELECT * FROM repeat_row(1, 2, num_rows = 1000000000000)
SELECT * FROM repeat(1, 1000000000000)
SELECT COUNT(*) FROM repeat(1, 100000000000)
SELECT * FROM test_all_types(), range(1000000000)
SELECT COUNT(*) FROM unnest(range(100000000)), range(1000)
SELECT bit_count(bitstring('1', 100000000)) FROM range(1000)
SELECT COUNT(*) FROM range(10) a, range(10) b, range(10) c, range(10) d, range(10) e, range(10) f, range(10) g, range(10) h, range(10) i, range(10) j
-- growing
SELECT length(repeat('x', 2000000000))
SELECT repeat('x', 2000000000)
SELECT repeat(repeat('x', 100000), 100000)
SELECT repeat(name, 1000000000) FROM t
SELECT lpad('x', 2000000000, 'y')
SELECT rpad('x', 2000000000, 'y')
SELECT lpad(name, 1000000000, 'ab') FROM t
SELECT rpad('', 900000000, '!') || lpad('', 900000000, '?')
SELECT printf('%2000000000d', 1)
SELECT printf('%.1000000000f', 1.5)
SELECT printf('%*d', 2000000000, 1)
SELECT format('{{:>2000000000}}', 'x')
SELECT format('{{:2000000000d}}', 1)
SELECT format('{{:.1000000000f}}', 1.5)
SELECT format('{{0}}{{0}}{{0}}{{0}}', repeat('x', 500000000))
SELECT concat(repeat('x', 500000000), repeat('y', 500000000))
SELECT concat_ws(repeat(',', 100000000), 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j')
SELECT replace(repeat('a', 1000000), 'a', repeat('b', 100000))
SELECT regexp_replace(repeat('a', 1000000), 'a', repeat('b', 10000), 'g')
SELECT translate(repeat('a', 500000000), 'a', 'b')
SELECT reverse(repeat('a', 900000000))
SELECT upper(repeat('ß', 400000000))
SELECT string_split(repeat('a,', 100000000), ',')
SELECT regexp_split_to_array(repeat('a,', 100000000), ',')
SELECT regexp_extract_all(repeat('ab', 50000000), 'a')
SELECT string_agg(repeat('y', 100000), '') FROM range(20000)
SELECT STRING_AGG(a.name || b.name, repeat(',', 1000000)) FROM t AS a, t AS b, range(1000)
SELECT list(a.range) FROM range(30000000) AS a
SELECT list(a.range), list(b.range) FROM range(10000) AS a, range(10000) AS b
SELECT array_agg(repeat('x', 10000)) FROM range(1000000)
SELECT histogram(range) FROM range(50000000)
SELECT map(range(50000000), range(50000000))
SELECT map_from_entries(list((range, range))) FROM range(30000000)
SELECT range(1000000000)
SELECT generate_series(1, 1000000000)
SELECT range(0, 10000000000, 1)[1]
SELECT range(DATE '0001-01-01', DATE '9999-12-31', INTERVAL 1 SECOND)
SELECT * FROM generate_series(TIMESTAMP '0001-01-01', TIMESTAMP '9999-12-31', INTERVAL 1 MICROSECOND)
SELECT list_resize([1], 2000000000, 0)
SELECT array_resize([1], 2000000000, 0)
SELECT list_concat(range(100000000), range(100000000))
SELECT flatten([range(50000000), range(50000000)])
SELECT list_transform(range(10000), lambda v: range(100000))
SELECT list_distinct(range(100000000))
SELECT list_sort(range(100000000))
SELECT list_zip(range(50000000), range(50000000))
SELECT array_to_string(range(100000000), ',')
SELECT unnest(range(100000000)), repeat('x', 1000)
SELECT CAST(range(100000000) AS VARCHAR)
SELECT bitstring('1', 2000000000)
SELECT '1'::BIT << 2000000000
SELECT set_bit(bitstring('0', 2000000000), 5, 1)
SELECT encode(repeat('x', 900000000))
SELECT hex(repeat('x', 500000000))
SELECT to_base64(encode(repeat('x', 500000000)))
SELECT from_hex(repeat('ff', 400000000))
SELECT unhex(repeat('00', 400000000))
SELECT url_encode(repeat('%', 300000000))
SELECT json_array(repeat('x', 900000000))
SELECT json_object('k', repeat('x', 900000000))
SELECT to_json(range(100000000))
SELECT json_group_array(range) FROM range(50000000)
SELECT json_transform(repeat('[', 10000000), '"JSON"')
SELECT bar(1, 0, 1, 2000000000)
SELECT chr(65) || repeat(chr(128512), 500000000)
SELECT * FROM range(10000000000)
SELECT * FROM range(2000000) AS a, t
SELECT repeat('x', 2000) FROM range(1000000)
SELECT name, repeat(name, 100000) FROM t, range(100000)
SELECT * FROM range(1000) AS a, range(1000) AS b, range(1000) AS c
SELECT a.x FROM t AS a, t AS b, t AS c, t AS d, t AS e, t AS f, t AS g, t AS h, t AS i, t AS j, t AS k, t AS l, t AS m, t AS n, t AS o
SELECT DISTINCT a.range * 1000003 + b.range FROM range(10000) AS a, range(10000) AS b
SELECT a.range, COUNT(*) FROM range(100000000) AS a GROUP BY a.range
SELECT range, SUM(range) OVER (PARTITION BY range % 10) FROM range(50000000)
SELECT LAG(range, 1000000) OVER (ORDER BY hash(range)) FROM range(50000000)
SELECT list(range) OVER (ORDER BY range) FROM range(20000)
SELECT list(range) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM range(30000)
SELECT string_agg(range::VARCHAR, '') OVER (ORDER BY range) FROM range(20000)
PIVOT (SELECT range AS r, range AS v FROM range(100000)) ON r USING SUM(v)
UNPIVOT (SELECT * FROM range(1000000)) ON range INTO NAME n VALUE v
SELECT * FROM range(30000000) AS a ORDER BY hash(range)
SELECT * FROM range(20000000) AS a JOIN range(20000000) AS b USING (range)
SELECT * FROM (SELECT range FROM range(20000000) EXCEPT SELECT range + 1 FROM range(20000000))
SELECT approx_quantile(range, 0.5), list(range) FROM range(50000000)
SELECT arg_max(repeat('x', 1000000), range, 100000) FROM range(100000)
SELECT max(repeat('x', 100000) || range, 100000) FROM range(1000000)
SELECT reservoir_quantile(range, 0.5, 1000000000) FROM range(1000)
SELECT quantile_cont(range, [0.1, 0.2, 0.3]) FROM range(100000000)
SELECT x AS {long} FROM t
SELECT '{long}' || '{long}'
-- crashing
SELECT {deep}1{shallow}
SELECT {minus}1
SELECT NOT {nots}TRUE
SELECT {plus}1
SELECT {cases}
SELECT x FROM {selects}
SELECT 1 WHERE 1 IN ({ones})
SELECT {lists}
SELECT CAST('99999999999999999999999999999999999999999' AS HUGEINT)
SELECT CAST(1e308 AS DECIMAL(38, 37))
SELECT CAST(repeat('9', 100000000) AS DECIMAL(38, 0))
SELECT CAST(repeat('9', 100000000) AS DOUBLE)
SELECT CAST('9' || repeat('0', 1000000) AS VARINT)
SELECT CAST(repeat('9', 1000000) AS BIGNUM) * CAST(repeat('9', 1000000) AS BIGNUM)
SELECT 170141183460469231731687303715884105727 + 1
SELECT 9223372036854775807 * 9223372036854775807
SELECT -9223372036854775808 // -1
SELECT (-9223372036854775807 - 1) % -1
SELECT ABS(-9223372036854775807 - 1)
SELECT 1 << 200, 1 >> -1
SELECT factorial(1000000)
SELECT gamma(1e308), lgamma(-1), exp(1e308), ln(0), sqrt(-1), power(0, -1)
SELECT CAST('nan' AS DOUBLE)::INTEGER, CAST('inf' AS DOUBLE)::BIGINT
SELECT chr(2147483647)
SELECT chr(-1)
SELECT substring('abc', -9223372036854775807, 9223372036854775807)
SELECT left('abc', -9223372036854775808)
SELECT 'abc'[9223372036854775807:-9223372036854775807]
SELECT [1, 2, 3][-9223372036854775807:9223372036854775807:9223372036854775807]
SELECT range(5, 1, -9223372036854775807)
SELECT generate_series(9223372036854775806, 9223372036854775807, 1)
SELECT DATE '5877642-06-25 (BC)' - INTERVAL 1 DAY
SELECT DATE '5881580-07-10' + 1
SELECT TIMESTAMP '294247-01-10 04:00:54.775806' + INTERVAL 1 DAY
SELECT INTERVAL '9223372036854775807' YEAR
SELECT date_trunc('millennium', TIMESTAMP '-infinity')
SELECT date_diff('microsecond', TIMESTAMP '-290308-12-22', TIMESTAMP '294247-01-10')
SELECT strftime(DATE '2020-01-01', repeat('%Y', 10000000))
SELECT strptime('x', repeat('%', 1000000))
SELECT make_date(2147483647, 13, 40)
SELECT make_timestamp(9223372036854775807)
SELECT to_days(2147483647) * 2147483647
SELECT error('crash')
SELECT CASE WHEN x > 1 THEN error(name) END FROM t
SELECT ('x' || chr(0) || 'y')::BLOB::BIT
SELECT '\xFF\xFE'::BLOB::VARCHAR
SELECT regexp_matches('a', '((((((((((a{{1000}}){{1000}}){{1000}}){{1000}}){{1000}}))))))')
SELECT regexp_matches('a', repeat('(', 100000))
SELECT regexp_matches('a', repeat('a?', 100000) || repeat('a', 100000))
SELECT 'a' SIMILAR TO '[' , 'a' ~ '(?P<x', 'a' LIKE 'a' ESCAPE 'ab'
SELECT x FROM t ORDER BY 99999999999
SELECT x FROM t LIMIT -1
SELECT x FROM t LIMIT 9223372036854775807 OFFSET 9223372036854775807
SELECT x FROM t USING SAMPLE 200 PERCENT
SELECT x FROM t TABLESAMPLE reservoir(9223372036854775807)
SELECT NTILE(0) OVER () FROM t
SELECT NTH_VALUE(x, -1) OVER () FROM t
SELECT LAG(x, 9223372036854775807) OVER (ORDER BY x) FROM t
SELECT SUM(x) OVER (ROWS BETWEEN 9223372036854775807 PRECEDING AND -1 FOLLOWING) FROM t
SELECT QUANTILE_CONT(x, 2) FROM t
SELECT QUANTILE_CONT(x, [NULL, -1, 'a']) FROM t
SELECT x AS a, a + 1 AS b, b + a AS c, c + c AS c FROM t GROUP BY ALL HAVING c > MAX(c)
SELECT COLUMNS('.*'), COLUMNS('(x)(') FROM t
SELECT * EXCLUDE (x, name) FROM t
SELECT * REPLACE (error('a') AS x) FROM t
SELECT struct_pack(a := 1, a := 2), row(), {{'a': NULL}}.b
SELECT union_value(k := 1)::UNION(s VARCHAR, i INTEGER)
SELECT map([NULL], [1]), map([1, 1], [2, 3])
SELECT [[[[1]]]]::INTEGER[][][][][][], CAST([1, 'a'] AS INTEGER[3])
SELECT CAST(x AS ENUM ('a', 'a')) FROM t
SELECT array_value(1, 2)::INTEGER[2147483647]
SELECT array_cross_product([1]::INTEGER[1], [1]::INTEGER[1])
SELECT json_extract('{{', '$'), json_extract(repeat('{{"a":', 100000), '$.a')
SELECT x COLLATE NOCASE.NOACCENT.DE FROM t
SELECT name COLLATE "{long}" FROM t
SELECT current_timestamp, now(), random(), uuid(), setseed(2)
SELECT hash(x), x::UUID, x::BLOB FROM t
SELECT x FROM t AS a NATURAL JOIN t AS b POSITIONAL JOIN t AS c
SELECT * FROM t AS t(a, b, c, d)
FROM t SELECT
SELECT ; SELECT
SELECT $1, ?, $name
/* {long} */ SELECT 1 -- '
SELECT 'a
