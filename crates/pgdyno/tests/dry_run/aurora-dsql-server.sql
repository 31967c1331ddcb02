-- tpcb at scale 2 on Amazon Aurora DSQL (aurora-dsql), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=tpcb …'); -- what is loaded, to be compared by --resume
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
INSERT INTO pgbench_branches (bid, bbalance, filler) SELECT r, 0, NULL FROM generate_series(1, 2) AS g (r); -- 2 rows
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 1);
INSERT INTO pgbench_tellers (tid, bid, tbalance, filler) SELECT r, (r - 1) / 10 + 1, 0, NULL FROM generate_series(1, 20) AS g (r); -- 20 rows
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 2);
INSERT INTO pgbench_accounts (aid, bid, abalance, filler) SELECT r, (r - 1) / 100000 + 1, 0, '' FROM generate_series(1, 2000) AS g (r); -- 100 times; 200000 rows, 2000 at a time, each a transaction of its own
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
