-- tpcb at scale 30 on CockroachDB (cockroachdb), over 2 connections

-- dropping old tables
DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- creating tables
-- source: CockroachDB documentation, hash-sharded indexes
CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88), PRIMARY KEY (bid) USING HASH WITH (bucket_count = 8));
-- source: CockroachDB documentation, hash-sharded indexes
CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84), PRIMARY KEY (tid) USING HASH WITH (bucket_count = 8));
-- source: CockroachDB documentation, hash-sharded indexes
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84), PRIMARY KEY (aid) USING HASH WITH (bucket_count = 8));
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22), id uuid NOT NULL DEFAULT gen_random_uuid(), PRIMARY KEY (id));

-- loading rows
COPY pgbench_branches (bid, bbalance, filler) FROM STDIN; -- 30 rows; data left out
COPY pgbench_tellers (tid, bid, tbalance, filler) FROM STDIN; -- 300 rows; data left out
COPY pgbench_accounts (aid, bid, abalance, filler) FROM STDIN; -- 300 times; 3000000 rows, 10000 at a time, each a transaction of its own; data left out

-- vacuuming and analyzing
-- source: CockroachDB documentation, CREATE STATISTICS
CREATE STATISTICS pgdyno FROM pgbench_accounts;
-- source: CockroachDB documentation, CREATE STATISTICS
CREATE STATISTICS pgdyno FROM pgbench_tellers;
-- source: CockroachDB documentation, CREATE STATISTICS
CREATE STATISTICS pgdyno FROM pgbench_branches;
-- source: CockroachDB documentation, CREATE STATISTICS
CREATE STATISTICS pgdyno FROM pgbench_history;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(bid), 0) AS keys FROM pgbench_branches;
SELECT count(*) AS rows, coalesce(sum(tid), 0) AS keys FROM pgbench_tellers;
SELECT count(*) AS rows, coalesce(sum(aid), 0) AS keys FROM pgbench_accounts;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM pgbench_history;
