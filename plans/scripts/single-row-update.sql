-- One row of a small table, updated by its key.
--
-- Published with a comparison of Aurora DSQL and YugabyteDB over two regions:
-- 1,000 rows, 10 clients, 300 s, one try; with and without an index on value.
--
-- Wrong in the published form: nothing is in the statement itself. But the
-- update leaves no trace, so nobody can tell afterwards whether it was done or
-- lost; and with one try the 1.2 to 1.7 % that met in a row on Aurora DSQL
-- were given up there, while YugabyteDB waited and retried in the server: the
-- two rates are not of the same work.
--
-- Here: on the table of --workload update (pgdyno init --workload update,
-- --param index=1 for the index). The workload itself counts its updates, so
-- that they are audited; run both with --max-tries.
\set id random(1, 1000)
\set value random(1, 1000000)
-- pgdyno: rows 1
UPDATE pgdyno_update SET value = :value WHERE id = :id;
