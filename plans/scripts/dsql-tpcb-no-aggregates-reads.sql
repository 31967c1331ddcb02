-- TPC-B without the updates of tellers and branches, which are read instead.
--
-- Published with "DSQL sucks at TPC-B", second form: scale 100, 100 and 1000
-- clients, 60 s, one try.
--
-- Wrong in the published form: as dsql-tpcb-no-aggregates.sql says; here it
-- matters, because a read that finds nothing is cheaper than one that does.
--
-- Here: the ranges follow :scale.
\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
-- pgdyno: rows 1
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
-- pgdyno: rows 1
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
-- pgdyno: rows 1
SELECT * FROM pgbench_tellers WHERE tid = :tid;
-- pgdyno: rows 1
SELECT * FROM pgbench_branches WHERE bid = :bid;
-- pgdyno: rows 1
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
