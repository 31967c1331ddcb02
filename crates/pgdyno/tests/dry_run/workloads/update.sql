-- update at scale 2 on CockroachDB (cockroachdb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_update;

-- creating tables
CREATE TABLE pgdyno_update (id bigint NOT NULL, value int NOT NULL, other int NOT NULL, changes bigint NOT NULL, PRIMARY KEY (id));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_update (id, value, other, changes) FROM STDIN; -- 2000 rows; data left out
COMMIT;

-- vacuuming and analyzing
CREATE STATISTICS pgdyno FROM pgdyno_update;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(id), 0) AS keys FROM pgdyno_update;
DROP TABLE IF EXISTS pgdyno_load;


-- update at scale 2 on YugabyteDB (yugabytedb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number HASH, part ASC));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_update;

-- creating tables
CREATE TABLE pgdyno_update (id bigint NOT NULL, value int NOT NULL, other int NOT NULL, changes bigint NOT NULL, PRIMARY KEY (id HASH));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_update (id, value, other, changes) FROM STDIN; -- 2000 rows; data left out
COMMIT;

-- vacuuming and analyzing
ANALYZE pgdyno_update;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(id), 0) AS keys FROM pgdyno_update;
DROP TABLE IF EXISTS pgdyno_load;


-- update at scale 2 on Amazon Aurora DSQL (aurora-dsql), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_update;

-- creating tables
CREATE TABLE pgdyno_update (id bigint NOT NULL, value int NOT NULL, other int NOT NULL, changes bigint NOT NULL, PRIMARY KEY (id));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_update (id, value, other, changes) FROM STDIN; -- 2000 rows; data left out
COMMIT;

-- vacuuming and analyzing
ANALYZE pgdyno_update;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(id), 0) AS keys FROM pgdyno_update;
DROP TABLE IF EXISTS pgdyno_load;


-- update at scale 2 on Amazon Aurora PostgreSQL Limitless Database (aurora-limitless), over 2 connections

-- dropping old tables
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"number"}';
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_update;

-- creating tables
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"id"}';
CREATE TABLE pgdyno_update (id bigint NOT NULL, value int NOT NULL, other int NOT NULL, changes bigint NOT NULL, PRIMARY KEY (id));
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_update (id, value, other, changes) FROM STDIN; -- 2000 rows; data left out
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_update;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(id), 0) AS keys FROM pgdyno_update;
DROP TABLE IF EXISTS pgdyno_load;


-- update at scale 2 on Citus (citus), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
SELECT create_distributed_table('pgdyno_load', 'number', colocate_with => 'none');
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_update;

-- creating tables
CREATE TABLE pgdyno_update (id bigint NOT NULL, value int NOT NULL, other int NOT NULL, changes bigint NOT NULL, PRIMARY KEY (id));
SELECT create_distributed_table('pgdyno_update', 'id', colocate_with => 'none');
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_update (id, value, other, changes) FROM STDIN; -- 2000 rows; data left out
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_update;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(id), 0) AS keys FROM pgdyno_update;
DROP TABLE IF EXISTS pgdyno_load;


-- update at scale 2 on Google AlloyDB (alloydb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_update;

-- creating tables
CREATE TABLE pgdyno_update (id bigint NOT NULL, value int NOT NULL, other int NOT NULL, changes bigint NOT NULL);
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_update (id, value, other, changes) FROM STDIN; -- 2000 rows; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE pgdyno_update ADD PRIMARY KEY (id);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_update;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(id), 0) AS keys FROM pgdyno_update;
DROP TABLE IF EXISTS pgdyno_load;


-- update at scale 2 on Google Cloud SQL for PostgreSQL (cloudsql), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_update;

-- creating tables
CREATE TABLE pgdyno_update (id bigint NOT NULL, value int NOT NULL, other int NOT NULL, changes bigint NOT NULL);
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_update (id, value, other, changes) FROM STDIN; -- 2000 rows; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE pgdyno_update ADD PRIMARY KEY (id);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_update;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(id), 0) AS keys FROM pgdyno_update;
DROP TABLE IF EXISTS pgdyno_load;


-- update at scale 2 on Amazon Aurora PostgreSQL (aurora-postgres), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_update;

-- creating tables
CREATE TABLE pgdyno_update (id bigint NOT NULL, value int NOT NULL, other int NOT NULL, changes bigint NOT NULL);
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_update (id, value, other, changes) FROM STDIN; -- 2000 rows; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE pgdyno_update ADD PRIMARY KEY (id);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_update;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(id), 0) AS keys FROM pgdyno_update;
DROP TABLE IF EXISTS pgdyno_load;


-- update at scale 2 on PostgreSQL (postgres), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgdyno_update;

-- creating tables
CREATE TABLE pgdyno_update (id bigint NOT NULL, value int NOT NULL, other int NOT NULL, changes bigint NOT NULL);
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgdyno_update (id, value, other, changes) FROM STDIN; -- 2000 rows; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE pgdyno_update ADD PRIMARY KEY (id);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgdyno_update;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(id), 0) AS keys FROM pgdyno_update;
DROP TABLE IF EXISTS pgdyno_load;
