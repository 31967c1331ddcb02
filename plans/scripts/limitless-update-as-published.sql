-- Updates of random accounts by shard key, as it was published.
--
-- Published with "Benchmarking Amazon Aurora Limitless with pgbench": scale
-- 1,000,000, 6,000 clients of three drivers, 10 min, "over 2.5 million TPS".
--
-- Wrong: aid and bid are drawn independently, so one update in :scale finds a
-- row. The mended form is limitless-update.sql. (The printed script sets the
-- scale itself; here it is the tables'.)
\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set delta random(-5000, 5000)
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid AND bid = :bid;
