-- TPC-B without the updates of tellers and branches.
--
-- Published with "DSQL sucks at TPC-B": scale 100, 100 and 1000 clients, 60 s,
-- one try.
--
-- Wrong in the published form: the ranges of bid and tid are swapped. Scale 100
-- has 100 branches and 1000 tellers, the script draws branches from 1 to 1000
-- and tellers from 1 to 100. The ranges are also fixed, whatever the tables'
-- scale is. Nothing shows it as long as bid and tid are only written down in
-- the history; with the two reads added, 9 of 10 reads of a branch find none.
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
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
