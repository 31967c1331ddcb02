-- simple-update at scale 2 on CockroachDB (cockroachdb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=simple-update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- creating tables
CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88), PRIMARY KEY (bid));
CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84), PRIMARY KEY (tid));
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84), PRIMARY KEY (aid));
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22), id uuid NOT NULL DEFAULT gen_random_uuid(), PRIMARY KEY (id));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgbench_branches (bid, bbalance, filler) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 1);
COPY pgbench_tellers (tid, bid, tbalance, filler) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 2);
COPY pgbench_accounts (aid, bid, abalance, filler) FROM STDIN; -- 20 times; 200000 rows, 10000 at a time, each a transaction of its own; data left out
COMMIT;

-- vacuuming and analyzing
CREATE STATISTICS pgdyno FROM pgbench_accounts;
CREATE STATISTICS pgdyno FROM pgbench_tellers;
CREATE STATISTICS pgdyno FROM pgbench_branches;
CREATE STATISTICS pgdyno FROM pgbench_history;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(bid), 0) AS keys FROM pgbench_branches;
SELECT count(*) AS rows, coalesce(sum(tid), 0) AS keys FROM pgbench_tellers;
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgbench_accounts;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM pgbench_history;
DROP TABLE IF EXISTS pgdyno_load;


-- simple-update at scale 2 on YugabyteDB (yugabytedb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number HASH, part ASC));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=simple-update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- creating tables
CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88), PRIMARY KEY (bid HASH));
CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84), PRIMARY KEY (tid HASH));
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84), PRIMARY KEY (aid HASH));
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgbench_branches (bid, bbalance, filler) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 1);
COPY pgbench_tellers (tid, bid, tbalance, filler) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 2);
COPY pgbench_accounts (aid, bid, abalance, filler) FROM STDIN; -- 10 times; 200000 rows, 20000 at a time, each a transaction of its own; data left out
COMMIT;

-- vacuuming and analyzing
ANALYZE pgbench_accounts;
ANALYZE pgbench_tellers;
ANALYZE pgbench_branches;
ANALYZE pgbench_history;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(bid), 0) AS keys FROM pgbench_branches;
SELECT count(*) AS rows, coalesce(sum(tid), 0) AS keys FROM pgbench_tellers;
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgbench_accounts;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM pgbench_history;
DROP TABLE IF EXISTS pgdyno_load;


-- simple-update at scale 2 on Amazon Aurora DSQL (aurora-dsql), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=simple-update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgbench_accounts;
DROP TABLE IF EXISTS pgbench_branches;
DROP TABLE IF EXISTS pgbench_history;
DROP TABLE IF EXISTS pgbench_tellers;

-- creating tables
CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88), PRIMARY KEY (bid));
CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84), PRIMARY KEY (tid));
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84), PRIMARY KEY (aid));
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22), id uuid NOT NULL DEFAULT gen_random_uuid(), PRIMARY KEY (id));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgbench_branches (bid, bbalance, filler) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 1);
COPY pgbench_tellers (tid, bid, tbalance, filler) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 2);
COPY pgbench_accounts (aid, bid, abalance, filler) FROM STDIN; -- 100 times; 200000 rows, 2000 at a time, each a transaction of its own; data left out
COMMIT;

-- vacuuming and analyzing
ANALYZE pgbench_accounts;
ANALYZE pgbench_tellers;
ANALYZE pgbench_branches;
ANALYZE pgbench_history;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(bid), 0) AS keys FROM pgbench_branches;
SELECT count(*) AS rows, coalesce(sum(tid), 0) AS keys FROM pgbench_tellers;
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgbench_accounts;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM pgbench_history;
DROP TABLE IF EXISTS pgdyno_load;


-- simple-update at scale 2 on Amazon Aurora PostgreSQL Limitless Database (aurora-limitless), over 2 connections

-- dropping old tables
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"number"}';
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=simple-update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- creating tables
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"bid"}';
CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88), PRIMARY KEY (bid));
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"bid"}';
SET rds_aurora.limitless_create_table_collocate_with = 'pgbench_branches';
CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84), PRIMARY KEY (tid, bid));
RESET rds_aurora.limitless_create_table_collocate_with;
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"bid"}';
SET rds_aurora.limitless_create_table_collocate_with = 'pgbench_branches';
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84), PRIMARY KEY (aid, bid));
RESET rds_aurora.limitless_create_table_collocate_with;
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"bid"}';
SET rds_aurora.limitless_create_table_collocate_with = 'pgbench_branches';
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
RESET rds_aurora.limitless_create_table_collocate_with;
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgbench_branches (bid, bbalance, filler) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 1);
COPY pgbench_tellers (tid, bid, tbalance, filler) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 2);
COPY pgbench_accounts (aid, bid, abalance, filler) FROM STDIN; -- 3 times; 200000 rows, 69905 at a time, each a transaction of its own; data left out
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgbench_accounts;
VACUUM (ANALYZE) pgbench_tellers;
VACUUM (ANALYZE) pgbench_branches;
VACUUM (ANALYZE) pgbench_history;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(bid), 0) AS keys FROM pgbench_branches;
SELECT count(*) AS rows, coalesce(sum(tid), 0) AS keys FROM pgbench_tellers;
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgbench_accounts;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM pgbench_history;
DROP TABLE IF EXISTS pgdyno_load;


-- simple-update at scale 2 on Citus (citus), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
SELECT create_distributed_table('pgdyno_load', 'number', colocate_with => 'none');
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=simple-update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- creating tables
CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88), PRIMARY KEY (bid)) WITH (fillfactor=100);
SELECT create_distributed_table('pgbench_branches', 'bid', colocate_with => 'none');
CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84), PRIMARY KEY (tid, bid)) WITH (fillfactor=100);
SELECT create_distributed_table('pgbench_tellers', 'bid', colocate_with => 'pgbench_branches');
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84), PRIMARY KEY (aid, bid)) WITH (fillfactor=100);
SELECT create_distributed_table('pgbench_accounts', 'bid', colocate_with => 'pgbench_branches');
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
SELECT create_distributed_table('pgbench_history', 'bid', colocate_with => 'pgbench_branches');
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgbench_branches (bid, bbalance, filler) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 1);
COPY pgbench_tellers (tid, bid, tbalance, filler) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 2);
COPY pgbench_accounts (aid, bid, abalance, filler) FROM STDIN; -- 3 times; 200000 rows, 69905 at a time, each a transaction of its own; data left out
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgbench_accounts;
VACUUM (ANALYZE) pgbench_tellers;
VACUUM (ANALYZE) pgbench_branches;
VACUUM (ANALYZE) pgbench_history;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(bid), 0) AS keys FROM pgbench_branches;
SELECT count(*) AS rows, coalesce(sum(tid), 0) AS keys FROM pgbench_tellers;
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgbench_accounts;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM pgbench_history;
DROP TABLE IF EXISTS pgdyno_load;


-- simple-update at scale 2 on Google AlloyDB (alloydb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=simple-update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- creating tables
CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88)) WITH (fillfactor=100);
CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84)) WITH (fillfactor=100);
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84)) WITH (fillfactor=100);
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgbench_branches (bid, bbalance, filler) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 1);
COPY pgbench_tellers (tid, bid, tbalance, filler) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 2);
COPY pgbench_accounts (aid, bid, abalance, filler) FROM STDIN; -- 3 times; 200000 rows, 69905 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
ALTER TABLE pgbench_branches ADD PRIMARY KEY (bid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
ALTER TABLE pgbench_tellers ADD PRIMARY KEY (tid);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgbench_accounts;
VACUUM (ANALYZE) pgbench_tellers;
VACUUM (ANALYZE) pgbench_branches;
VACUUM (ANALYZE) pgbench_history;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(bid), 0) AS keys FROM pgbench_branches;
SELECT count(*) AS rows, coalesce(sum(tid), 0) AS keys FROM pgbench_tellers;
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgbench_accounts;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM pgbench_history;
DROP TABLE IF EXISTS pgdyno_load;


-- simple-update at scale 2 on Google Cloud SQL for PostgreSQL (cloudsql), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=simple-update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- creating tables
CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88)) WITH (fillfactor=100);
CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84)) WITH (fillfactor=100);
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84)) WITH (fillfactor=100);
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgbench_branches (bid, bbalance, filler) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 1);
COPY pgbench_tellers (tid, bid, tbalance, filler) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 2);
COPY pgbench_accounts (aid, bid, abalance, filler) FROM STDIN; -- 3 times; 200000 rows, 69905 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
ALTER TABLE pgbench_branches ADD PRIMARY KEY (bid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
ALTER TABLE pgbench_tellers ADD PRIMARY KEY (tid);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgbench_accounts;
VACUUM (ANALYZE) pgbench_tellers;
VACUUM (ANALYZE) pgbench_branches;
VACUUM (ANALYZE) pgbench_history;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(bid), 0) AS keys FROM pgbench_branches;
SELECT count(*) AS rows, coalesce(sum(tid), 0) AS keys FROM pgbench_tellers;
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgbench_accounts;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM pgbench_history;
DROP TABLE IF EXISTS pgdyno_load;


-- simple-update at scale 2 on Amazon Aurora PostgreSQL (aurora-postgres), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=simple-update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- creating tables
CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88)) WITH (fillfactor=100);
CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84)) WITH (fillfactor=100);
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84)) WITH (fillfactor=100);
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgbench_branches (bid, bbalance, filler) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 1);
COPY pgbench_tellers (tid, bid, tbalance, filler) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 2);
COPY pgbench_accounts (aid, bid, abalance, filler) FROM STDIN; -- 3 times; 200000 rows, 69905 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
ALTER TABLE pgbench_branches ADD PRIMARY KEY (bid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
ALTER TABLE pgbench_tellers ADD PRIMARY KEY (tid);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgbench_accounts;
VACUUM (ANALYZE) pgbench_tellers;
VACUUM (ANALYZE) pgbench_branches;
VACUUM (ANALYZE) pgbench_history;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(bid), 0) AS keys FROM pgbench_branches;
SELECT count(*) AS rows, coalesce(sum(tid), 0) AS keys FROM pgbench_tellers;
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgbench_accounts;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM pgbench_history;
DROP TABLE IF EXISTS pgdyno_load;


-- simple-update at scale 2 on PostgreSQL (postgres), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=simple-update …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- creating tables
CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88)) WITH (fillfactor=100);
CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84)) WITH (fillfactor=100);
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84)) WITH (fillfactor=100);
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgbench_branches (bid, bbalance, filler) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 1);
COPY pgbench_tellers (tid, bid, tbalance, filler) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 2);
COPY pgbench_accounts (aid, bid, abalance, filler) FROM STDIN; -- 3 times; 200000 rows, 69905 at a time, each a transaction of its own; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
ALTER TABLE pgbench_branches ADD PRIMARY KEY (bid);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
ALTER TABLE pgbench_tellers ADD PRIMARY KEY (tid);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) pgbench_accounts;
VACUUM (ANALYZE) pgbench_tellers;
VACUUM (ANALYZE) pgbench_branches;
VACUUM (ANALYZE) pgbench_history;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(bid), 0) AS keys FROM pgbench_branches;
SELECT count(*) AS rows, coalesce(sum(tid), 0) AS keys FROM pgbench_tellers;
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgbench_accounts;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM pgbench_history;
DROP TABLE IF EXISTS pgdyno_load;
