-- scan at scale 2 on CockroachDB (cockroachdb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=scan …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_scan;

-- creating tables
CREATE TABLE pgdyno_scan (grp bigint NOT NULL, pos int NOT NULL, value int NOT NULL, filler char(84), PRIMARY KEY (grp, pos));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_scan (grp, pos, value, filler) FROM STDIN; -- 20 times; 200000 rows, 10000 at a time, each a transaction of its own; data left out
COMMIT;

-- vacuuming and analyzing
CREATE STATISTICS pgdyno FROM pgdyno_scan;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(pos), 0) AS keys FROM pgdyno_scan;
DROP TABLE IF EXISTS pgdyno_load;


-- scan at scale 2 on YugabyteDB (yugabytedb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number HASH, part ASC));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=scan …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_scan;

-- creating tables
CREATE TABLE pgdyno_scan (grp bigint NOT NULL, pos int NOT NULL, value int NOT NULL, filler char(84), PRIMARY KEY (grp HASH, pos ASC));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_scan (grp, pos, value, filler) FROM STDIN; -- 10 times; 200000 rows, 20000 at a time, each a transaction of its own; data left out
COMMIT;

-- vacuuming and analyzing
ANALYZE pgdyno_scan;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(pos), 0) AS keys FROM pgdyno_scan;
DROP TABLE IF EXISTS pgdyno_load;


-- scan at scale 2 on Amazon Aurora DSQL (aurora-dsql), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=scan …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_scan;

-- creating tables
CREATE TABLE pgdyno_scan (grp bigint NOT NULL, pos int NOT NULL, value int NOT NULL, filler char(84), PRIMARY KEY (grp, pos));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_scan (grp, pos, value, filler) FROM STDIN; -- 100 times; 200000 rows, 2000 at a time, each a transaction of its own; data left out
COMMIT;

-- vacuuming and analyzing
ANALYZE pgdyno_scan;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(pos), 0) AS keys FROM pgdyno_scan;
DROP TABLE IF EXISTS pgdyno_load;


-- scan at scale 2 on Amazon Aurora PostgreSQL Limitless Database (aurora-limitless), over 2 connections

-- dropping old tables
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"number"}';
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=scan …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_scan;

-- creating tables
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"grp"}';
CREATE TABLE pgdyno_scan (grp bigint NOT NULL, pos int NOT NULL, value int NOT NULL, filler char(84), PRIMARY KEY (grp, pos));
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_scan (grp, pos, value, filler) FROM STDIN; -- 3 times; 200000 rows, 77672 at a time, each a transaction of its own; data left out
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_scan;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(pos), 0) AS keys FROM pgdyno_scan;
DROP TABLE IF EXISTS pgdyno_load;


-- scan at scale 2 on Citus (citus), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
SELECT create_distributed_table('pgdyno_load', 'number', colocate_with => 'none');
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=scan …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_scan;

-- creating tables
CREATE TABLE pgdyno_scan (grp bigint NOT NULL, pos int NOT NULL, value int NOT NULL, filler char(84), PRIMARY KEY (grp, pos));
SELECT create_distributed_table('pgdyno_scan', 'grp', colocate_with => 'none');
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_scan (grp, pos, value, filler) FROM STDIN; -- 3 times; 200000 rows, 77672 at a time, each a transaction of its own; data left out
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_scan;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(pos), 0) AS keys FROM pgdyno_scan;
DROP TABLE IF EXISTS pgdyno_load;


-- scan at scale 2 on Google AlloyDB (alloydb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=scan …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_scan;

-- creating tables
CREATE TABLE pgdyno_scan (grp bigint NOT NULL, pos int NOT NULL, value int NOT NULL, filler char(84));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_scan (grp, pos, value, filler) FROM STDIN; -- 3 times; 200000 rows, 77672 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE pgdyno_scan ADD PRIMARY KEY (grp, pos);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_scan;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(pos), 0) AS keys FROM pgdyno_scan;
DROP TABLE IF EXISTS pgdyno_load;


-- scan at scale 2 on Google Cloud SQL for PostgreSQL (cloudsql), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=scan …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_scan;

-- creating tables
CREATE TABLE pgdyno_scan (grp bigint NOT NULL, pos int NOT NULL, value int NOT NULL, filler char(84));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_scan (grp, pos, value, filler) FROM STDIN; -- 3 times; 200000 rows, 77672 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE pgdyno_scan ADD PRIMARY KEY (grp, pos);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_scan;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(pos), 0) AS keys FROM pgdyno_scan;
DROP TABLE IF EXISTS pgdyno_load;


-- scan at scale 2 on Amazon Aurora PostgreSQL (aurora-postgres), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=scan …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_scan;

-- creating tables
CREATE TABLE pgdyno_scan (grp bigint NOT NULL, pos int NOT NULL, value int NOT NULL, filler char(84));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_scan (grp, pos, value, filler) FROM STDIN; -- 3 times; 200000 rows, 77672 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE pgdyno_scan ADD PRIMARY KEY (grp, pos);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_scan;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(pos), 0) AS keys FROM pgdyno_scan;
DROP TABLE IF EXISTS pgdyno_load;


-- scan at scale 2 on PostgreSQL (postgres), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=scan …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_scan;

-- creating tables
CREATE TABLE pgdyno_scan (grp bigint NOT NULL, pos int NOT NULL, value int NOT NULL, filler char(84));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_scan (grp, pos, value, filler) FROM STDIN; -- 3 times; 200000 rows, 77672 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE pgdyno_scan ADD PRIMARY KEY (grp, pos);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_scan;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(pos), 0) AS keys FROM pgdyno_scan;
DROP TABLE IF EXISTS pgdyno_load;
