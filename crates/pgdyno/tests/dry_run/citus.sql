-- tpcb at scale 30 on Citus (citus), over 2 connections

-- dropping old tables
DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- creating tables
CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88), PRIMARY KEY (bid)) WITH (fillfactor=100);
-- source: Citus documentation, creating and modifying distributed objects
SELECT create_distributed_table('pgbench_branches', 'bid', colocate_with => 'none');
CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84), PRIMARY KEY (tid, bid)) WITH (fillfactor=100);
-- source: Citus documentation, creating and modifying distributed objects
SELECT create_distributed_table('pgbench_tellers', 'bid', colocate_with => 'pgbench_branches');
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84), PRIMARY KEY (aid, bid)) WITH (fillfactor=100);
-- source: Citus documentation, creating and modifying distributed objects
SELECT create_distributed_table('pgbench_accounts', 'bid', colocate_with => 'pgbench_branches');
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
-- source: Citus documentation, creating and modifying distributed objects
SELECT create_distributed_table('pgbench_history', 'bid', colocate_with => 'pgbench_branches');

-- loading rows
COPY pgbench_branches (bid, bbalance, filler) FROM STDIN; -- 30 rows; data left out
COPY pgbench_tellers (tid, bid, tbalance, filler) FROM STDIN; -- 300 rows; data left out
COPY pgbench_accounts (aid, bid, abalance, filler) FROM STDIN; -- 43 times; 3000000 rows, 69905 at a time, each a transaction of its own; data left out

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
