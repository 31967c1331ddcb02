-- tpcb at scale 30 on YugabyteDB (yugabytedb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number ASC, part ASC)) WITH (colocation = false);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=tpcb …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- creating tables
CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88), PRIMARY KEY (bid ASC)) WITH (colocation = false);
CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84), PRIMARY KEY (tid ASC)) WITH (colocation = false);
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84), PRIMARY KEY (aid ASC)) WITH (colocation = false);
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22)) WITH (colocation = false);
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY pgbench_branches (bid, bbalance, filler) FROM STDIN; -- 30 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 1);
COPY pgbench_tellers (tid, bid, tbalance, filler) FROM STDIN; -- 300 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 2);
COPY pgbench_accounts (aid, bid, abalance, filler) FROM STDIN; -- 150 times; 3000000 rows, 20000 at a time, each a transaction of its own; data left out
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
