-- TPC-B whose statements carry the shard key.
--
-- Published with "Benchmarking Amazon Aurora Limitless with pgbench": scale
-- 10,000, 100 to 1,200 clients, 10 and 60 min.
--
-- Wrong in the published form: aid and bid (and tid and bid) are drawn
-- independently, and then both are asked for. An account is of one branch
-- only, so of the updates of accounts and tellers one in :scale finds a row;
-- the others look into an index and write nothing. See
-- limitless-tpcb-as-published.sql.
--
-- Here: the branch is the account's own, and the teller one of its ten. All
-- transactions are local to a shard, as the published figure takes for
-- granted; TPC-B's own 15 % of foreign accounts are in --workload tpcb-sharded.
\set aid random(1, 100000 * :scale)
\set bid (:aid - 1) / 100000 + 1
\set tid (:bid - 1) * 10 + random(1, 10)
\set delta random(-5000, 5000)
BEGIN;
-- pgdyno: rows 1
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid AND bid = :bid;
-- pgdyno: rows 1
SELECT abalance FROM pgbench_accounts WHERE aid = :aid AND bid = :bid;
-- pgdyno: rows 1
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid AND bid = :bid;
-- pgdyno: rows 1
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
-- pgdyno: rows 1
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
