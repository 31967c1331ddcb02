-- insert at scale 2 on CockroachDB (cockroachdb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=insert …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_insert;

-- creating tables
CREATE TABLE pgdyno_insert (tid bigint NOT NULL, bid bigint NOT NULL, aid bigint NOT NULL, delta int NOT NULL, mtime timestamp NOT NULL, filler char(22), id uuid NOT NULL DEFAULT gen_random_uuid(), PRIMARY KEY (id));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_insert (tid, bid, aid, delta, mtime) FROM STDIN; -- 20 times; 200000 rows, 10000 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
CREATE INDEX pgdyno_insert_tid ON pgdyno_insert (tid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
CREATE INDEX pgdyno_insert_bid ON pgdyno_insert (bid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
CREATE INDEX pgdyno_insert_aid ON pgdyno_insert (aid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
CREATE INDEX pgdyno_insert_delta ON pgdyno_insert (delta);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 3);
CREATE INDEX pgdyno_insert_mtime ON pgdyno_insert (mtime);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 4);

-- vacuuming and analyzing
CREATE STATISTICS pgdyno FROM pgdyno_insert;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgdyno_insert;
DROP TABLE IF EXISTS pgdyno_load;


-- insert at scale 2 on YugabyteDB (yugabytedb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number HASH, part ASC));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=insert …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_insert;

-- creating tables
CREATE TABLE pgdyno_insert (tid bigint NOT NULL, bid bigint NOT NULL, aid bigint NOT NULL, delta int NOT NULL, mtime timestamp NOT NULL, filler char(22));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_insert (tid, bid, aid, delta, mtime) FROM STDIN; -- 10 times; 200000 rows, 20000 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
CREATE INDEX pgdyno_insert_tid ON pgdyno_insert (tid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
CREATE INDEX pgdyno_insert_bid ON pgdyno_insert (bid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
CREATE INDEX pgdyno_insert_aid ON pgdyno_insert (aid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
CREATE INDEX pgdyno_insert_delta ON pgdyno_insert (delta);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 3);
CREATE INDEX pgdyno_insert_mtime ON pgdyno_insert (mtime);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 4);

-- vacuuming and analyzing
ANALYZE pgdyno_insert;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgdyno_insert;
DROP TABLE IF EXISTS pgdyno_load;


-- insert at scale 2 on Amazon Aurora DSQL (aurora-dsql), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=insert …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_insert;

-- creating tables
CREATE TABLE pgdyno_insert (tid bigint NOT NULL, bid bigint NOT NULL, aid bigint NOT NULL, delta int NOT NULL, mtime timestamp NOT NULL, filler char(22), id uuid NOT NULL DEFAULT gen_random_uuid(), PRIMARY KEY (id));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_insert (tid, bid, aid, delta, mtime) FROM STDIN; -- 100 times; 200000 rows, 2000 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
CREATE INDEX ASYNC pgdyno_insert_tid ON pgdyno_insert (tid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
CREATE INDEX ASYNC pgdyno_insert_bid ON pgdyno_insert (bid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
CREATE INDEX ASYNC pgdyno_insert_aid ON pgdyno_insert (aid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
CREATE INDEX ASYNC pgdyno_insert_delta ON pgdyno_insert (delta);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 3);
CREATE INDEX ASYNC pgdyno_insert_mtime ON pgdyno_insert (mtime);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 4);

-- vacuuming and analyzing
ANALYZE pgdyno_insert;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgdyno_insert;
DROP TABLE IF EXISTS pgdyno_load;


-- insert at scale 2 on Amazon Aurora PostgreSQL Limitless Database (aurora-limitless), over 2 connections

-- dropping old tables
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"number"}';
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=insert …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_insert;

-- creating tables
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"aid"}';
CREATE TABLE pgdyno_insert (tid bigint NOT NULL, bid bigint NOT NULL, aid bigint NOT NULL, delta int NOT NULL, mtime timestamp NOT NULL, filler char(22));
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_insert (tid, bid, aid, delta, mtime) FROM STDIN; -- 8 times; 200000 rows, 26546 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
CREATE INDEX pgdyno_insert_tid ON pgdyno_insert (tid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
CREATE INDEX pgdyno_insert_bid ON pgdyno_insert (bid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
CREATE INDEX pgdyno_insert_aid ON pgdyno_insert (aid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
CREATE INDEX pgdyno_insert_delta ON pgdyno_insert (delta);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 3);
CREATE INDEX pgdyno_insert_mtime ON pgdyno_insert (mtime);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 4);

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_insert;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgdyno_insert;
DROP TABLE IF EXISTS pgdyno_load;


-- insert at scale 2 on Citus (citus), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
SELECT create_distributed_table('pgdyno_load', 'number', colocate_with => 'none');
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=insert …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_insert;

-- creating tables
CREATE TABLE pgdyno_insert (tid bigint NOT NULL, bid bigint NOT NULL, aid bigint NOT NULL, delta int NOT NULL, mtime timestamp NOT NULL, filler char(22));
SELECT create_distributed_table('pgdyno_insert', 'aid', colocate_with => 'none');
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_insert (tid, bid, aid, delta, mtime) FROM STDIN; -- 8 times; 200000 rows, 26546 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
CREATE INDEX pgdyno_insert_tid ON pgdyno_insert (tid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
CREATE INDEX pgdyno_insert_bid ON pgdyno_insert (bid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
CREATE INDEX pgdyno_insert_aid ON pgdyno_insert (aid);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
CREATE INDEX pgdyno_insert_delta ON pgdyno_insert (delta);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 3);
CREATE INDEX pgdyno_insert_mtime ON pgdyno_insert (mtime);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 4);

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_insert;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgdyno_insert;
DROP TABLE IF EXISTS pgdyno_load;


-- insert at scale 2 on Google AlloyDB (alloydb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=insert …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_insert;

-- creating tables
CREATE TABLE pgdyno_insert (tid bigint NOT NULL, bid bigint NOT NULL, aid bigint NOT NULL, delta int NOT NULL, mtime timestamp NOT NULL, filler char(22));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_insert (tid, bid, aid, delta, mtime) FROM STDIN; -- 8 times; 200000 rows, 26546 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
CREATE INDEX pgdyno_insert_tid ON pgdyno_insert (tid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
CREATE INDEX pgdyno_insert_bid ON pgdyno_insert (bid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
CREATE INDEX pgdyno_insert_aid ON pgdyno_insert (aid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 3);
CREATE INDEX pgdyno_insert_delta ON pgdyno_insert (delta);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 4);
CREATE INDEX pgdyno_insert_mtime ON pgdyno_insert (mtime);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_insert;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgdyno_insert;
DROP TABLE IF EXISTS pgdyno_load;


-- insert at scale 2 on Google Cloud SQL for PostgreSQL (cloudsql), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=insert …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_insert;

-- creating tables
CREATE TABLE pgdyno_insert (tid bigint NOT NULL, bid bigint NOT NULL, aid bigint NOT NULL, delta int NOT NULL, mtime timestamp NOT NULL, filler char(22));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_insert (tid, bid, aid, delta, mtime) FROM STDIN; -- 8 times; 200000 rows, 26546 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
CREATE INDEX pgdyno_insert_tid ON pgdyno_insert (tid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
CREATE INDEX pgdyno_insert_bid ON pgdyno_insert (bid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
CREATE INDEX pgdyno_insert_aid ON pgdyno_insert (aid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 3);
CREATE INDEX pgdyno_insert_delta ON pgdyno_insert (delta);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 4);
CREATE INDEX pgdyno_insert_mtime ON pgdyno_insert (mtime);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_insert;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgdyno_insert;
DROP TABLE IF EXISTS pgdyno_load;


-- insert at scale 2 on Amazon Aurora PostgreSQL (aurora-postgres), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=insert …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_insert;

-- creating tables
CREATE TABLE pgdyno_insert (tid bigint NOT NULL, bid bigint NOT NULL, aid bigint NOT NULL, delta int NOT NULL, mtime timestamp NOT NULL, filler char(22));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_insert (tid, bid, aid, delta, mtime) FROM STDIN; -- 8 times; 200000 rows, 26546 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
CREATE INDEX pgdyno_insert_tid ON pgdyno_insert (tid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
CREATE INDEX pgdyno_insert_bid ON pgdyno_insert (bid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
CREATE INDEX pgdyno_insert_aid ON pgdyno_insert (aid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 3);
CREATE INDEX pgdyno_insert_delta ON pgdyno_insert (delta);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 4);
CREATE INDEX pgdyno_insert_mtime ON pgdyno_insert (mtime);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_insert;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgdyno_insert;
DROP TABLE IF EXISTS pgdyno_load;


-- insert at scale 2 on PostgreSQL (postgres), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=insert …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_insert;

-- creating tables
CREATE TABLE pgdyno_insert (tid bigint NOT NULL, bid bigint NOT NULL, aid bigint NOT NULL, delta int NOT NULL, mtime timestamp NOT NULL, filler char(22));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_insert (tid, bid, aid, delta, mtime) FROM STDIN; -- 8 times; 200000 rows, 26546 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
CREATE INDEX pgdyno_insert_tid ON pgdyno_insert (tid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
CREATE INDEX pgdyno_insert_bid ON pgdyno_insert (bid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
CREATE INDEX pgdyno_insert_aid ON pgdyno_insert (aid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 3);
CREATE INDEX pgdyno_insert_delta ON pgdyno_insert (delta);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 4);
CREATE INDEX pgdyno_insert_mtime ON pgdyno_insert (mtime);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_insert;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgdyno_insert;
DROP TABLE IF EXISTS pgdyno_load;
