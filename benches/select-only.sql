-- What the floor and pgbench -S ask, for `pgdyno run`, which has no -S.
\set aid random(1, 100000 * :scale)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
