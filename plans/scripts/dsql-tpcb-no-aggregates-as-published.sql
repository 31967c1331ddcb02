-- TPC-B without the updates of tellers and branches, which are read instead,
-- with the published ranges.
--
-- Published with "DSQL sucks at TPC-B": scale 100.
--
-- Wrong: at scale 100 there are 100 branches and 1000 tellers. The script
-- draws 1000 branches and 100 tellers, so 9 of 10 reads of a branch find no
-- row, and 9 of 10 tellers are never asked for. Only reads miss, which pgdyno
-- has to be told of: the comments declare the rows. The mended form is
-- dsql-tpcb-no-aggregates-reads.sql.
\set aid random(1, 10000000)
\set bid random(1, 1000)
\set tid random(1, 100)
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
