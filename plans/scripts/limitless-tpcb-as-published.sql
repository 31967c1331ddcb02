-- TPC-B whose statements carry the shard key, as it was published.
--
-- Published with "Benchmarking Amazon Aurora Limitless with pgbench": scale
-- 10,000, 100 to 1,200 clients, 10 and 60 min.
--
-- Wrong: aid, bid and tid are drawn independently, so of the updates of
-- accounts and tellers one in :scale finds its row: at scale 20 one in 20, at
-- the published scale one in 10,000. The mended form is limitless-tpcb.sql.
\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid AND bid = :bid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid AND bid = :bid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid AND bid = :bid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
