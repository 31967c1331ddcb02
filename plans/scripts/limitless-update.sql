-- Updates of random accounts by shard key, one statement to a transaction.
--
-- Published with "Benchmarking Amazon Aurora Limitless with pgbench": scale
-- 1,000,000, 6,000 clients of three drivers, 10 min, "over 2.5 million TPS".
--
-- Wrong in the published form: aid and bid are drawn independently, so one
-- update in a million finds a row: of 1.5 thousand million transactions some
-- 1,500 changed anything. (The printed script has "set" for "\set" as well.)
--
-- Here: the branch is the account's own.
\set aid random(1, 100000 * :scale)
\set bid (:aid - 1) / 100000 + 1
\set delta random(-5000, 5000)
-- pgdyno: rows 1
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid AND bid = :bid;
