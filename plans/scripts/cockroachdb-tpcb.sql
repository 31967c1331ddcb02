-- TPC-B as one statement.
--
-- Published with "Optimizing pgbench for CockroachDB Part 3": scale 10,
-- 8 clients, 60 s, three tries, as tpcb-cockroach.sql, whose text is not in
-- the publication; this is TPC-B in the form that it describes.
--
-- Wrong in the published form: nothing that can be seen. But the comparison
-- with pgbench's own script changes two things at once, the number of round
-- trips and the locking, and 8 clients on 10 branches meet often: what is
-- measured is contention.
--
-- The command tag counts the rows of the last SELECT only. Whether the updates
-- were done is in the tables: the audits of --workload tpcb-single-statement
-- look there.
\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
-- pgdyno: rows 1
WITH account AS (UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid RETURNING abalance),
teller AS (UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid RETURNING tid),
branch AS (UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid RETURNING bid),
history AS (INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP) RETURNING aid)
SELECT abalance FROM account;
