-- tpcb at scale 30 on PostgreSQL (postgres), over 1 connection

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=tpcb …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;

-- creating tables
CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88)) WITH (fillfactor=100);
CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84)) WITH (fillfactor=100);
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84)) PARTITION BY RANGE (aid);
CREATE TABLE pgbench_accounts_1 PARTITION OF pgbench_accounts FOR VALUES FROM (minvalue) TO (1000001) WITH (fillfactor=100);
CREATE TABLE pgbench_accounts_2 PARTITION OF pgbench_accounts FOR VALUES FROM (1000001) TO (2000001) WITH (fillfactor=100);
CREATE TABLE pgbench_accounts_3 PARTITION OF pgbench_accounts FOR VALUES FROM (2000001) TO (maxvalue) WITH (fillfactor=100);
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
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
COPY pgbench_accounts (aid, bid, abalance, filler) FROM STDIN; -- 43 times; 3000000 rows, 69905 at a time, each a transaction of its own; data left out
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
