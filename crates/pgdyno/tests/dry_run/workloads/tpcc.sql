-- tpcc at scale 2 on CockroachDB (cockroachdb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=tpcc …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS order_line, new_order, orders, history, customer, stock, district, warehouse, item, tpcc_parameters;

-- creating tables
CREATE TABLE item (i_id int NOT NULL, i_im_id int NOT NULL, i_name varchar(24) NOT NULL, i_price numeric(5,2) NOT NULL, i_data varchar(50) NOT NULL, PRIMARY KEY (i_id));
CREATE TABLE warehouse (w_id int NOT NULL, w_name varchar(10) NOT NULL, w_street_1 varchar(20) NOT NULL, w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, w_zip char(9) NOT NULL, w_tax numeric(4,4) NOT NULL, w_ytd numeric(16,2) NOT NULL, PRIMARY KEY (w_id));
CREATE TABLE district (d_id int NOT NULL, d_w_id int NOT NULL, d_name varchar(10) NOT NULL, d_street_1 varchar(20) NOT NULL, d_street_2 varchar(20) NOT NULL, d_city varchar(20) NOT NULL, d_state char(2) NOT NULL, d_zip char(9) NOT NULL, d_tax numeric(4,4) NOT NULL, d_ytd numeric(16,2) NOT NULL, d_next_o_id int NOT NULL, PRIMARY KEY (d_w_id, d_id));
CREATE TABLE stock (s_i_id int NOT NULL, s_w_id int NOT NULL, s_quantity int NOT NULL, s_dist_01 char(24) NOT NULL, s_dist_02 char(24) NOT NULL, s_dist_03 char(24) NOT NULL, s_dist_04 char(24) NOT NULL, s_dist_05 char(24) NOT NULL, s_dist_06 char(24) NOT NULL, s_dist_07 char(24) NOT NULL, s_dist_08 char(24) NOT NULL, s_dist_09 char(24) NOT NULL, s_dist_10 char(24) NOT NULL, s_ytd int NOT NULL, s_order_cnt int NOT NULL, s_remote_cnt int NOT NULL, s_data varchar(50) NOT NULL, PRIMARY KEY (s_w_id, s_i_id));
CREATE TABLE customer (c_id int NOT NULL, c_d_id int NOT NULL, c_w_id int NOT NULL, c_first varchar(16) NOT NULL, c_middle char(2) NOT NULL, c_last varchar(16) NOT NULL, c_street_1 varchar(20) NOT NULL, c_street_2 varchar(20) NOT NULL, c_city varchar(20) NOT NULL, c_state char(2) NOT NULL, c_zip char(9) NOT NULL, c_phone char(16) NOT NULL, c_since timestamptz NOT NULL, c_credit char(2) NOT NULL, c_credit_lim numeric(12,2) NOT NULL, c_discount numeric(4,4) NOT NULL, c_balance numeric(16,2) NOT NULL, c_ytd_payment numeric(16,2) NOT NULL, c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL, c_data varchar(500) NOT NULL, PRIMARY KEY (c_w_id, c_d_id, c_id));
CREATE TABLE history (h_c_id int NOT NULL, h_c_d_id int NOT NULL, h_c_w_id int NOT NULL, h_d_id int NOT NULL, h_w_id int NOT NULL, h_date timestamptz NOT NULL, h_amount numeric(6,2) NOT NULL, h_data varchar(24) NOT NULL, id uuid NOT NULL DEFAULT gen_random_uuid(), PRIMARY KEY (id));
CREATE TABLE orders (o_id int NOT NULL, o_d_id int NOT NULL, o_w_id int NOT NULL, o_c_id int NOT NULL, o_entry_d timestamptz NOT NULL, o_carrier_id int, o_ol_cnt int NOT NULL, o_all_local int NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id));
CREATE TABLE new_order (no_o_id int NOT NULL, no_d_id int NOT NULL, no_w_id int NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id));
CREATE TABLE order_line (ol_o_id int NOT NULL, ol_d_id int NOT NULL, ol_w_id int NOT NULL, ol_number int NOT NULL, ol_i_id int NOT NULL, ol_supply_w_id int NOT NULL, ol_delivery_d timestamptz, ol_quantity int NOT NULL, ol_amount numeric(6,2) NOT NULL, ol_dist_info char(24) NOT NULL, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number));
CREATE TABLE tpcc_parameters (name varchar(32) NOT NULL, value varchar(64) NOT NULL, PRIMARY KEY (name));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY item (i_id, i_im_id, i_name, i_price, i_data) FROM STDIN; -- 10 times; 100000 rows, 10000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 10);
COPY warehouse (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 11);
COPY district (d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, d_next_o_id) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 12);
COPY stock (s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data) FROM STDIN; -- 33 times; 200000 rows, 6241 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 45);
COPY customer (c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data) FROM STDIN; -- 21 times; 60000 rows, 2912 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 66);
COPY history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) FROM STDIN; -- 6 times; 60000 rows, 10000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 72);
COPY orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) FROM STDIN; -- 6 times; 60000 rows, 10000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 78);
COPY new_order (no_o_id, no_d_id, no_w_id) FROM STDIN; -- 2 times; 18000 rows, 10000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 80);
COPY order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) FROM STDIN; -- 60 times; 600000 rows, 10000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 140);
COPY tpcc_parameters (name, value) FROM STDIN; -- 6 rows; data left out
COMMIT;

-- creating primary keys
CREATE UNIQUE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
CREATE UNIQUE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);

-- vacuuming and analyzing
CREATE STATISTICS pgdyno FROM order_line;
CREATE STATISTICS pgdyno FROM stock;
CREATE STATISTICS pgdyno FROM customer;
CREATE STATISTICS pgdyno FROM orders;
CREATE STATISTICS pgdyno FROM history;
CREATE STATISTICS pgdyno FROM item;
CREATE STATISTICS pgdyno FROM new_order;
CREATE STATISTICS pgdyno FROM district;
CREATE STATISTICS pgdyno FROM warehouse;
CREATE STATISTICS pgdyno FROM tpcc_parameters;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(i_id), 0) AS keys FROM item;
SELECT count(*) AS rows, coalesce(sum(w_id), 0) AS keys FROM warehouse;
SELECT count(*) AS rows, coalesce(sum((d_w_id::bigint - 1) * 10 + d_id), 0) AS keys FROM district;
SELECT count(*) AS rows, coalesce(sum((s_w_id::bigint - 1) * 100000 + s_i_id), 0) AS keys FROM stock;
SELECT count(*) AS rows, coalesce(sum(((c_w_id::bigint - 1) * 10 + c_d_id - 1) * 3000 + c_id), 0) AS keys FROM customer;
SELECT count(*) AS rows, coalesce(sum(((h_c_w_id::bigint - 1) * 10 + h_c_d_id - 1) * 3000 + h_c_id), 0) AS keys FROM history;
SELECT count(*) AS rows, coalesce(sum(((o_w_id::bigint - 1) * 10 + o_d_id - 1) * 3000 + o_id), 0) AS keys FROM orders;
SELECT count(*) AS rows, coalesce(sum(((no_w_id::bigint - 1) * 10 + no_d_id - 1) * 900 + no_o_id - 2100), 0) AS keys FROM new_order;
SELECT count(*) AS rows, coalesce(sum((ol_w_id::bigint - 1) * 10 + ol_d_id), 0) AS keys FROM order_line;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM tpcc_parameters;
SELECT count(*) FROM warehouse WHERE w_ytd <> 300000 OR w_tax NOT BETWEEN 0 AND 0.2 OR length(w_name) NOT BETWEEN 6 AND 10 OR length(w_street_1) NOT BETWEEN 10 AND 20 OR length(w_street_2) NOT BETWEEN 10 AND 20 OR length(w_city) NOT BETWEEN 10 AND 20 OR w_state NOT SIMILAR TO '[A-Z][A-Z]' OR w_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT count(*) FROM district WHERE d_ytd <> 30000 OR d_next_o_id <> 3001 OR d_tax NOT BETWEEN 0 AND 0.2 OR length(d_name) NOT BETWEEN 6 AND 10 OR length(d_street_1) NOT BETWEEN 10 AND 20 OR length(d_street_2) NOT BETWEEN 10 AND 20 OR length(d_city) NOT BETWEEN 10 AND 20 OR d_state NOT SIMILAR TO '[A-Z][A-Z]' OR d_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT CASE WHEN min(s_quantity) <> 10 OR max(s_quantity) <> 100 OR (sum(s_quantity) - 55.0 * count(*)) * (sum(s_quantity) - 55.0 * count(*)) > 36 * 690.0 * count(*) OR max(s_ytd) <> 0 OR max(s_order_cnt) <> 0 OR max(s_remote_cnt) <> 0 OR min(s_ytd) <> 0 OR min(s_order_cnt) <> 0 OR min(s_remote_cnt) <> 0 OR min(length(s_data)) <> 26 OR max(length(s_data)) <> 50 OR min(length(s_dist_01)) <> 24 OR min(length(s_dist_02)) <> 24 OR min(length(s_dist_03)) <> 24 OR min(length(s_dist_04)) <> 24 OR min(length(s_dist_05)) <> 24 OR min(length(s_dist_06)) <> 24 OR min(length(s_dist_07)) <> 24 OR min(length(s_dist_08)) <> 24 OR min(length(s_dist_09)) <> 24 OR min(length(s_dist_10)) <> 24 OR (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) THEN 1 ELSE 0 END FROM stock;
SELECT count(*) FROM (SELECT c_w_id FROM customer GROUP BY c_w_id, c_d_id HAVING count(*) <> 3000 OR count(DISTINCT c_last) <> 1000 OR min(c_balance) <> -10 OR max(c_balance) <> -10 OR min(c_ytd_payment) <> 10 OR max(c_ytd_payment) <> 10 OR min(c_payment_cnt) <> 1 OR max(c_payment_cnt) <> 1 OR max(c_delivery_cnt) <> 0 OR min(c_discount) < 0 OR max(c_discount) > 0.5 OR min(c_credit_lim) <> 50000 OR max(c_credit_lim) <> 50000) d;
SELECT CASE WHEN (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR sum(CASE WHEN c_credit IN ('BC', 'GC') AND c_middle = 'OE' AND c_zip LIKE '____11111' AND c_state SIMILAR TO '[A-Z][A-Z]' AND length(c_phone) = 16 THEN 0 ELSE 1 END) <> 0 OR min(length(c_first)) <> 8 OR max(length(c_first)) <> 16 OR min(length(c_street_1)) <> 10 OR max(length(c_street_1)) <> 20 OR min(length(c_street_2)) <> 10 OR max(length(c_street_2)) <> 20 OR min(length(c_city)) <> 10 OR max(length(c_city)) <> 20 OR min(length(c_data)) <> 300 OR max(length(c_data)) <> 500 THEN 1 ELSE 0 END FROM customer;
SELECT CASE WHEN (max(n) - 52.257812 * (sum(n) / 3000)) * (max(n) - 52.257812 * (sum(n) / 3000)) > 36 * 49.944131 * (sum(n) / 3000) THEN 1 ELSE 0 END FROM (SELECT c_last, count(*) AS n FROM customer GROUP BY c_last) names;
SELECT count(*) FROM (SELECT h_w_id FROM history GROUP BY h_w_id, h_d_id HAVING count(*) <> 3000 OR count(DISTINCT h_c_id) <> 3000 OR min(h_amount) <> 10 OR max(h_amount) <> 10 OR min(length(h_data)) < 12 OR max(length(h_data)) > 24 OR sum(CASE WHEN h_c_w_id <> h_w_id OR h_c_d_id <> h_d_id THEN 1 ELSE 0 END) <> 0) d;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING count(*) <> 900 OR min(no_o_id) <> 2101 OR max(no_o_id) <> 3000) d;
SELECT count(*) FROM (SELECT o_w_id FROM orders GROUP BY o_w_id, o_d_id HAVING count(*) <> 3000 OR count(DISTINCT o_c_id) <> 3000 OR min(o_c_id) <> 1 OR max(o_c_id) <> 3000 OR count(o_carrier_id) <> 2100 OR min(o_ol_cnt) <> 5 OR max(o_ol_cnt) <> 15 OR sum(o_ol_cnt) <> 30000 OR min(o_all_local) <> 1 OR min(o_carrier_id) <> 1 OR max(o_carrier_id) <> 10 OR sum(CASE WHEN o_c_id = o_id THEN 1 ELSE 0 END) > 20 OR max(CASE WHEN o_carrier_id IS NOT NULL THEN o_id END) <> 2100) d;
SELECT count(*) FROM order_line WHERE ol_supply_w_id <> ol_w_id OR ol_quantity <> 5 OR ol_i_id NOT BETWEEN 1 AND 100000 OR ol_number NOT BETWEEN 1 AND 15 OR (ol_o_id < 2101) <> (ol_delivery_d IS NOT NULL) OR (ol_o_id < 2101) <> (ol_amount = 0);
SELECT CASE WHEN (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) * (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) > 36 * 8333317.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END) OR (sum(ol_i_id) - 50000.5 * count(*)) * (sum(ol_i_id) - 50000.5 * count(*)) > 36 * 833333333.0 * count(*) OR min(length(ol_dist_info)) <> 24 THEN 1 ELSE 0 END FROM order_line;
SELECT CASE WHEN (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR min(length(i_data)) <> 26 OR max(length(i_data)) <> 50 OR min(length(i_name)) <> 14 OR max(length(i_name)) <> 24 OR min(i_price) < 1 OR max(i_price) > 100 OR min(i_im_id) < 1 OR max(i_im_id) > 10000 OR (sum(i_price) - 50.5 * count(*)) * (sum(i_price) - 50.5 * count(*)) > 36 * 817.0 * count(*) THEN 1 ELSE 0 END FROM item;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS ytd FROM district GROUP BY d_w_id) d ON d_w_id = w_id WHERE w_ytd IS DISTINCT FROM d.ytd) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last FROM new_order GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id WHERE d_next_o_id - 1 IS DISTINCT FROM o.last OR d_next_o_id - 1 <> coalesce(n.last, d_next_o_id - 1)) violations;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS lines FROM orders GROUP BY o_w_id, o_d_id) o FULL JOIN (SELECT ol_w_id, ol_d_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE o.lines IS DISTINCT FROM l.lines) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, o_id FROM orders WHERE o_carrier_id IS NULL) o FULL JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id WHERE o_w_id IS NULL OR no_w_id IS NULL) violations;
SELECT count(*) FROM (SELECT o_w_id FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_ol_cnt <> coalesce(l.lines, 0)) violations;
SELECT count(*) FROM (SELECT ol_w_id FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)) violations;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id) h ON h_w_id = w_id WHERE w_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id WHERE c_balance <> coalesce(d.amount, 0) - coalesce(p.amount, 0)) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS n, sum(CASE WHEN o_id > 2100 AND o_carrier_id IS NOT NULL THEN 1 ELSE 0 END) AS delivered FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS n FROM new_order GROUP BY no_w_id, no_d_id) q ON no_w_id = d_w_id AND no_d_id = d_id WHERE o.n - coalesce(q.n, 0) IS DISTINCT FROM 2100 + o.delivered) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_balance + c_ytd_payment <> coalesce(d.amount, 0)) violations;
SELECT count(*) FROM (SELECT s_i_id FROM stock LEFT JOIN (SELECT ol_supply_w_id, ol_i_id, sum(ol_quantity) AS ytd, count(*) AS orders, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line WHERE ol_o_id > 3000 GROUP BY ol_supply_w_id, ol_i_id) l ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id WHERE s_quantity NOT BETWEEN 10 AND 100 OR s_ytd <> coalesce(l.ytd, 0) OR s_order_cnt <> coalesce(l.orders, 0) OR s_remote_cnt <> coalesce(l.remote, 0)) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, count(*) AS deliveries FROM orders WHERE o_id > 2100 AND o_carrier_id IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_payment_cnt <> coalesce(p.payments, 0) OR c_ytd_payment <> coalesce(p.amount, 0) OR c_delivery_cnt <> coalesce(o.deliveries, 0)) violations;
SELECT count(*) FROM (SELECT coalesce(o_id, ol_o_id) FROM orders FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, min(ol_number) AS first, max(ol_number) AS last, count(*) AS n, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_id IS NULL OR l.n IS NULL OR l.first <> 1 OR l.last <> l.n OR (o_all_local = 1) <> (l.remote = 0)) violations;
SELECT count(*) FROM (SELECT ol_o_id FROM order_line JOIN item ON i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_amount <> ol_quantity * i_price UNION ALL SELECT ol_o_id FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_supply_w_id = ol_w_id AND ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END UNION ALL SELECT s_i_id FROM stock JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id, ol_d_id, ol_dist_info FROM order_line WHERE ol_o_id > 3000 AND ol_supply_w_id <> ol_w_id) l ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id WHERE ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END) violations;
SELECT (SELECT count(*) FROM (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c) - (SELECT count(*) FROM stock p JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c ON c.ol_supply_w_id = p.s_w_id AND c.ol_i_id = p.s_i_id);
SELECT count(*) FROM stock c LEFT JOIN item p ON c.s_i_id = p.i_id WHERE p.i_id IS NULL;
SELECT count(*) FROM stock c LEFT JOIN warehouse p ON c.s_w_id = p.w_id WHERE p.w_id IS NULL;
SELECT count(*) FROM new_order c LEFT JOIN orders p ON c.no_w_id = p.o_w_id AND c.no_d_id = p.o_d_id AND c.no_o_id = p.o_id WHERE p.o_w_id IS NULL;
SELECT count(*) FROM orders c LEFT JOIN customer p ON c.o_w_id = p.c_w_id AND c.o_d_id = p.c_d_id AND c.o_c_id = p.c_id WHERE p.c_w_id IS NULL;
SELECT (SELECT count(*) FROM (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c) - (SELECT count(*) FROM customer p JOIN (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c ON c.h_c_w_id = p.c_w_id AND c.h_c_d_id = p.c_d_id AND c.h_c_id = p.c_id);
SELECT count(*) FROM history c LEFT JOIN district p ON c.h_w_id = p.d_w_id AND c.h_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM customer c LEFT JOIN district p ON c.c_w_id = p.d_w_id AND c.c_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM district c LEFT JOIN warehouse p ON c.d_w_id = p.w_id WHERE p.w_id IS NULL;
DROP TABLE IF EXISTS pgdyno_load;


-- tpcc at scale 2 on YugabyteDB (yugabytedb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number HASH, part ASC));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=tpcc …'); -- what is loaded, to be compared by --resume
DROP PROCEDURE IF EXISTS neword(int, int, int, int[], int[], int[], int, timestamptz, numeric, numeric, numeric, text, text, numeric, text[], numeric[], int[], text[], numeric[], boolean);
DROP FUNCTION IF EXISTS payment(int, int, int, int, int, text, numeric);
DROP FUNCTION IF EXISTS ostat(int, int, int, text);
DROP FUNCTION IF EXISTS delivery(int, int);
DROP FUNCTION IF EXISTS slev(int, int, int);
DROP TABLE IF EXISTS order_line, new_order, orders, history, customer, stock, district, warehouse, item, tpcc_parameters;

-- creating tables
CREATE TABLE item (i_id int NOT NULL, i_im_id int NOT NULL, i_name varchar(24) NOT NULL, i_price numeric(5,2) NOT NULL, i_data varchar(50) NOT NULL, PRIMARY KEY (i_id HASH));
CREATE TABLE warehouse (w_id int NOT NULL, w_name varchar(10) NOT NULL, w_street_1 varchar(20) NOT NULL, w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, w_zip char(9) NOT NULL, w_tax numeric(4,4) NOT NULL, w_ytd numeric(16,2) NOT NULL, PRIMARY KEY (w_id HASH));
CREATE TABLE district (d_id int NOT NULL, d_w_id int NOT NULL, d_name varchar(10) NOT NULL, d_street_1 varchar(20) NOT NULL, d_street_2 varchar(20) NOT NULL, d_city varchar(20) NOT NULL, d_state char(2) NOT NULL, d_zip char(9) NOT NULL, d_tax numeric(4,4) NOT NULL, d_ytd numeric(16,2) NOT NULL, d_next_o_id int NOT NULL, PRIMARY KEY (d_w_id HASH, d_id ASC));
CREATE TABLE stock (s_i_id int NOT NULL, s_w_id int NOT NULL, s_quantity int NOT NULL, s_dist_01 char(24) NOT NULL, s_dist_02 char(24) NOT NULL, s_dist_03 char(24) NOT NULL, s_dist_04 char(24) NOT NULL, s_dist_05 char(24) NOT NULL, s_dist_06 char(24) NOT NULL, s_dist_07 char(24) NOT NULL, s_dist_08 char(24) NOT NULL, s_dist_09 char(24) NOT NULL, s_dist_10 char(24) NOT NULL, s_ytd int NOT NULL, s_order_cnt int NOT NULL, s_remote_cnt int NOT NULL, s_data varchar(50) NOT NULL, PRIMARY KEY (s_w_id HASH, s_i_id ASC));
CREATE TABLE customer (c_id int NOT NULL, c_d_id int NOT NULL, c_w_id int NOT NULL, c_first varchar(16) NOT NULL, c_middle char(2) NOT NULL, c_last varchar(16) NOT NULL, c_street_1 varchar(20) NOT NULL, c_street_2 varchar(20) NOT NULL, c_city varchar(20) NOT NULL, c_state char(2) NOT NULL, c_zip char(9) NOT NULL, c_phone char(16) NOT NULL, c_since timestamptz NOT NULL, c_credit char(2) NOT NULL, c_credit_lim numeric(12,2) NOT NULL, c_discount numeric(4,4) NOT NULL, c_balance numeric(16,2) NOT NULL, c_ytd_payment numeric(16,2) NOT NULL, c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL, c_data varchar(500) NOT NULL, PRIMARY KEY (c_w_id HASH, c_d_id ASC, c_id ASC));
CREATE TABLE history (h_c_id int NOT NULL, h_c_d_id int NOT NULL, h_c_w_id int NOT NULL, h_d_id int NOT NULL, h_w_id int NOT NULL, h_date timestamptz NOT NULL, h_amount numeric(6,2) NOT NULL, h_data varchar(24) NOT NULL);
CREATE TABLE orders (o_id int NOT NULL, o_d_id int NOT NULL, o_w_id int NOT NULL, o_c_id int NOT NULL, o_entry_d timestamptz NOT NULL, o_carrier_id int, o_ol_cnt int NOT NULL, o_all_local int NOT NULL, PRIMARY KEY (o_w_id HASH, o_d_id ASC, o_id ASC));
CREATE TABLE new_order (no_o_id int NOT NULL, no_d_id int NOT NULL, no_w_id int NOT NULL, PRIMARY KEY (no_w_id HASH, no_d_id ASC, no_o_id ASC));
CREATE TABLE order_line (ol_o_id int NOT NULL, ol_d_id int NOT NULL, ol_w_id int NOT NULL, ol_number int NOT NULL, ol_i_id int NOT NULL, ol_supply_w_id int NOT NULL, ol_delivery_d timestamptz, ol_quantity int NOT NULL, ol_amount numeric(6,2) NOT NULL, ol_dist_info char(24) NOT NULL, PRIMARY KEY (ol_w_id HASH, ol_d_id ASC, ol_o_id ASC, ol_number ASC));
CREATE TABLE tpcc_parameters (name varchar(32) NOT NULL, value varchar(64) NOT NULL, PRIMARY KEY (name HASH));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY item (i_id, i_im_id, i_name, i_price, i_data) FROM STDIN; -- 5 times; 100000 rows, 20000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 5);
COPY warehouse (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 6);
COPY district (d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, d_next_o_id) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 7);
COPY stock (s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data) FROM STDIN; -- 33 times; 200000 rows, 6241 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 40);
COPY customer (c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data) FROM STDIN; -- 21 times; 60000 rows, 2912 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 61);
COPY history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) FROM STDIN; -- 3 times; 60000 rows, 20000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 64);
COPY orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) FROM STDIN; -- 3 times; 60000 rows, 20000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 67);
COPY new_order (no_o_id, no_d_id, no_w_id) FROM STDIN; -- 18000 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 68);
COPY order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) FROM STDIN; -- 30 times; 600000 rows, 20000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 98);
COPY tpcc_parameters (name, value) FROM STDIN; -- 6 rows; data left out
COMMIT;

-- creating primary keys
CREATE UNIQUE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
CREATE UNIQUE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);

-- vacuuming and analyzing
ANALYZE order_line;
ANALYZE stock;
ANALYZE customer;
ANALYZE orders;
ANALYZE history;
ANALYZE item;
ANALYZE new_order;
ANALYZE district;
ANALYZE warehouse;
ANALYZE tpcc_parameters;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(i_id), 0) AS keys FROM item;
SELECT count(*) AS rows, coalesce(sum(w_id), 0) AS keys FROM warehouse;
SELECT count(*) AS rows, coalesce(sum((d_w_id::bigint - 1) * 10 + d_id), 0) AS keys FROM district;
SELECT count(*) AS rows, coalesce(sum((s_w_id::bigint - 1) * 100000 + s_i_id), 0) AS keys FROM stock;
SELECT count(*) AS rows, coalesce(sum(((c_w_id::bigint - 1) * 10 + c_d_id - 1) * 3000 + c_id), 0) AS keys FROM customer;
SELECT count(*) AS rows, coalesce(sum(((h_c_w_id::bigint - 1) * 10 + h_c_d_id - 1) * 3000 + h_c_id), 0) AS keys FROM history;
SELECT count(*) AS rows, coalesce(sum(((o_w_id::bigint - 1) * 10 + o_d_id - 1) * 3000 + o_id), 0) AS keys FROM orders;
SELECT count(*) AS rows, coalesce(sum(((no_w_id::bigint - 1) * 10 + no_d_id - 1) * 900 + no_o_id - 2100), 0) AS keys FROM new_order;
SELECT count(*) AS rows, coalesce(sum((ol_w_id::bigint - 1) * 10 + ol_d_id), 0) AS keys FROM order_line;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM tpcc_parameters;
SELECT count(*) FROM warehouse WHERE w_ytd <> 300000 OR w_tax NOT BETWEEN 0 AND 0.2 OR length(w_name) NOT BETWEEN 6 AND 10 OR length(w_street_1) NOT BETWEEN 10 AND 20 OR length(w_street_2) NOT BETWEEN 10 AND 20 OR length(w_city) NOT BETWEEN 10 AND 20 OR w_state NOT SIMILAR TO '[A-Z][A-Z]' OR w_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT count(*) FROM district WHERE d_ytd <> 30000 OR d_next_o_id <> 3001 OR d_tax NOT BETWEEN 0 AND 0.2 OR length(d_name) NOT BETWEEN 6 AND 10 OR length(d_street_1) NOT BETWEEN 10 AND 20 OR length(d_street_2) NOT BETWEEN 10 AND 20 OR length(d_city) NOT BETWEEN 10 AND 20 OR d_state NOT SIMILAR TO '[A-Z][A-Z]' OR d_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT CASE WHEN min(s_quantity) <> 10 OR max(s_quantity) <> 100 OR (sum(s_quantity) - 55.0 * count(*)) * (sum(s_quantity) - 55.0 * count(*)) > 36 * 690.0 * count(*) OR max(s_ytd) <> 0 OR max(s_order_cnt) <> 0 OR max(s_remote_cnt) <> 0 OR min(s_ytd) <> 0 OR min(s_order_cnt) <> 0 OR min(s_remote_cnt) <> 0 OR min(length(s_data)) <> 26 OR max(length(s_data)) <> 50 OR min(length(s_dist_01)) <> 24 OR min(length(s_dist_02)) <> 24 OR min(length(s_dist_03)) <> 24 OR min(length(s_dist_04)) <> 24 OR min(length(s_dist_05)) <> 24 OR min(length(s_dist_06)) <> 24 OR min(length(s_dist_07)) <> 24 OR min(length(s_dist_08)) <> 24 OR min(length(s_dist_09)) <> 24 OR min(length(s_dist_10)) <> 24 OR (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) THEN 1 ELSE 0 END FROM stock;
SELECT count(*) FROM (SELECT c_w_id FROM customer GROUP BY c_w_id, c_d_id HAVING count(*) <> 3000 OR count(DISTINCT c_last) <> 1000 OR min(c_balance) <> -10 OR max(c_balance) <> -10 OR min(c_ytd_payment) <> 10 OR max(c_ytd_payment) <> 10 OR min(c_payment_cnt) <> 1 OR max(c_payment_cnt) <> 1 OR max(c_delivery_cnt) <> 0 OR min(c_discount) < 0 OR max(c_discount) > 0.5 OR min(c_credit_lim) <> 50000 OR max(c_credit_lim) <> 50000) d;
SELECT CASE WHEN (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR sum(CASE WHEN c_credit IN ('BC', 'GC') AND c_middle = 'OE' AND c_zip LIKE '____11111' AND c_state SIMILAR TO '[A-Z][A-Z]' AND length(c_phone) = 16 THEN 0 ELSE 1 END) <> 0 OR min(length(c_first)) <> 8 OR max(length(c_first)) <> 16 OR min(length(c_street_1)) <> 10 OR max(length(c_street_1)) <> 20 OR min(length(c_street_2)) <> 10 OR max(length(c_street_2)) <> 20 OR min(length(c_city)) <> 10 OR max(length(c_city)) <> 20 OR min(length(c_data)) <> 300 OR max(length(c_data)) <> 500 THEN 1 ELSE 0 END FROM customer;
SELECT CASE WHEN (max(n) - 52.257812 * (sum(n) / 3000)) * (max(n) - 52.257812 * (sum(n) / 3000)) > 36 * 49.944131 * (sum(n) / 3000) THEN 1 ELSE 0 END FROM (SELECT c_last, count(*) AS n FROM customer GROUP BY c_last) names;
SELECT count(*) FROM (SELECT h_w_id FROM history GROUP BY h_w_id, h_d_id HAVING count(*) <> 3000 OR count(DISTINCT h_c_id) <> 3000 OR min(h_amount) <> 10 OR max(h_amount) <> 10 OR min(length(h_data)) < 12 OR max(length(h_data)) > 24 OR sum(CASE WHEN h_c_w_id <> h_w_id OR h_c_d_id <> h_d_id THEN 1 ELSE 0 END) <> 0) d;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING count(*) <> 900 OR min(no_o_id) <> 2101 OR max(no_o_id) <> 3000) d;
SELECT count(*) FROM (SELECT o_w_id FROM orders GROUP BY o_w_id, o_d_id HAVING count(*) <> 3000 OR count(DISTINCT o_c_id) <> 3000 OR min(o_c_id) <> 1 OR max(o_c_id) <> 3000 OR count(o_carrier_id) <> 2100 OR min(o_ol_cnt) <> 5 OR max(o_ol_cnt) <> 15 OR sum(o_ol_cnt) <> 30000 OR min(o_all_local) <> 1 OR min(o_carrier_id) <> 1 OR max(o_carrier_id) <> 10 OR sum(CASE WHEN o_c_id = o_id THEN 1 ELSE 0 END) > 20 OR max(CASE WHEN o_carrier_id IS NOT NULL THEN o_id END) <> 2100) d;
SELECT count(*) FROM order_line WHERE ol_supply_w_id <> ol_w_id OR ol_quantity <> 5 OR ol_i_id NOT BETWEEN 1 AND 100000 OR ol_number NOT BETWEEN 1 AND 15 OR (ol_o_id < 2101) <> (ol_delivery_d IS NOT NULL) OR (ol_o_id < 2101) <> (ol_amount = 0);
SELECT CASE WHEN (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) * (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) > 36 * 8333317.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END) OR (sum(ol_i_id) - 50000.5 * count(*)) * (sum(ol_i_id) - 50000.5 * count(*)) > 36 * 833333333.0 * count(*) OR min(length(ol_dist_info)) <> 24 THEN 1 ELSE 0 END FROM order_line;
SELECT CASE WHEN (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR min(length(i_data)) <> 26 OR max(length(i_data)) <> 50 OR min(length(i_name)) <> 14 OR max(length(i_name)) <> 24 OR min(i_price) < 1 OR max(i_price) > 100 OR min(i_im_id) < 1 OR max(i_im_id) > 10000 OR (sum(i_price) - 50.5 * count(*)) * (sum(i_price) - 50.5 * count(*)) > 36 * 817.0 * count(*) THEN 1 ELSE 0 END FROM item;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS ytd FROM district GROUP BY d_w_id) d ON d_w_id = w_id WHERE w_ytd IS DISTINCT FROM d.ytd) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last FROM new_order GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id WHERE d_next_o_id - 1 IS DISTINCT FROM o.last OR d_next_o_id - 1 <> coalesce(n.last, d_next_o_id - 1)) violations;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS lines FROM orders GROUP BY o_w_id, o_d_id) o FULL JOIN (SELECT ol_w_id, ol_d_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE o.lines IS DISTINCT FROM l.lines) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, o_id FROM orders WHERE o_carrier_id IS NULL) o FULL JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id WHERE o_w_id IS NULL OR no_w_id IS NULL) violations;
SELECT count(*) FROM (SELECT o_w_id FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_ol_cnt <> coalesce(l.lines, 0)) violations;
SELECT count(*) FROM (SELECT ol_w_id FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)) violations;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id) h ON h_w_id = w_id WHERE w_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id WHERE c_balance <> coalesce(d.amount, 0) - coalesce(p.amount, 0)) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS n, sum(CASE WHEN o_id > 2100 AND o_carrier_id IS NOT NULL THEN 1 ELSE 0 END) AS delivered FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS n FROM new_order GROUP BY no_w_id, no_d_id) q ON no_w_id = d_w_id AND no_d_id = d_id WHERE o.n - coalesce(q.n, 0) IS DISTINCT FROM 2100 + o.delivered) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_balance + c_ytd_payment <> coalesce(d.amount, 0)) violations;
SELECT count(*) FROM (SELECT s_i_id FROM stock LEFT JOIN (SELECT ol_supply_w_id, ol_i_id, sum(ol_quantity) AS ytd, count(*) AS orders, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line WHERE ol_o_id > 3000 GROUP BY ol_supply_w_id, ol_i_id) l ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id WHERE s_quantity NOT BETWEEN 10 AND 100 OR s_ytd <> coalesce(l.ytd, 0) OR s_order_cnt <> coalesce(l.orders, 0) OR s_remote_cnt <> coalesce(l.remote, 0)) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, count(*) AS deliveries FROM orders WHERE o_id > 2100 AND o_carrier_id IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_payment_cnt <> coalesce(p.payments, 0) OR c_ytd_payment <> coalesce(p.amount, 0) OR c_delivery_cnt <> coalesce(o.deliveries, 0)) violations;
SELECT count(*) FROM (SELECT coalesce(o_id, ol_o_id) FROM orders FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, min(ol_number) AS first, max(ol_number) AS last, count(*) AS n, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_id IS NULL OR l.n IS NULL OR l.first <> 1 OR l.last <> l.n OR (o_all_local = 1) <> (l.remote = 0)) violations;
SELECT count(*) FROM (SELECT ol_o_id FROM order_line JOIN item ON i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_amount <> ol_quantity * i_price UNION ALL SELECT ol_o_id FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_supply_w_id = ol_w_id AND ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END UNION ALL SELECT s_i_id FROM stock JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id, ol_d_id, ol_dist_info FROM order_line WHERE ol_o_id > 3000 AND ol_supply_w_id <> ol_w_id) l ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id WHERE ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END) violations;
SELECT (SELECT count(*) FROM (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c) - (SELECT count(*) FROM stock p JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c ON c.ol_supply_w_id = p.s_w_id AND c.ol_i_id = p.s_i_id);
SELECT count(*) FROM stock c LEFT JOIN item p ON c.s_i_id = p.i_id WHERE p.i_id IS NULL;
SELECT count(*) FROM stock c LEFT JOIN warehouse p ON c.s_w_id = p.w_id WHERE p.w_id IS NULL;
SELECT count(*) FROM new_order c LEFT JOIN orders p ON c.no_w_id = p.o_w_id AND c.no_d_id = p.o_d_id AND c.no_o_id = p.o_id WHERE p.o_w_id IS NULL;
SELECT count(*) FROM orders c LEFT JOIN customer p ON c.o_w_id = p.c_w_id AND c.o_d_id = p.c_d_id AND c.o_c_id = p.c_id WHERE p.c_w_id IS NULL;
SELECT (SELECT count(*) FROM (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c) - (SELECT count(*) FROM customer p JOIN (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c ON c.h_c_w_id = p.c_w_id AND c.h_c_d_id = p.c_d_id AND c.h_c_id = p.c_id);
SELECT count(*) FROM history c LEFT JOIN district p ON c.h_w_id = p.d_w_id AND c.h_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM customer c LEFT JOIN district p ON c.c_w_id = p.d_w_id AND c.c_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM district c LEFT JOIN warehouse p ON c.d_w_id = p.w_id WHERE p.w_id IS NULL;
DROP TABLE IF EXISTS pgdyno_load;


-- tpcc at scale 2 on Amazon Aurora DSQL (aurora-dsql), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=tpcc …'); -- what is loaded, to be compared by --resume
DROP TABLE IF EXISTS order_line;
DROP TABLE IF EXISTS new_order;
DROP TABLE IF EXISTS orders;
DROP TABLE IF EXISTS history;
DROP TABLE IF EXISTS customer;
DROP TABLE IF EXISTS stock;
DROP TABLE IF EXISTS district;
DROP TABLE IF EXISTS warehouse;
DROP TABLE IF EXISTS item;
DROP TABLE IF EXISTS tpcc_parameters;

-- creating tables
CREATE TABLE item (i_id int NOT NULL, i_im_id int NOT NULL, i_name varchar(24) NOT NULL, i_price numeric(5,2) NOT NULL, i_data varchar(50) NOT NULL, PRIMARY KEY (i_id));
CREATE TABLE warehouse (w_id int NOT NULL, w_name varchar(10) NOT NULL, w_street_1 varchar(20) NOT NULL, w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, w_zip char(9) NOT NULL, w_tax numeric(4,4) NOT NULL, w_ytd numeric(16,2) NOT NULL, PRIMARY KEY (w_id));
CREATE TABLE district (d_id int NOT NULL, d_w_id int NOT NULL, d_name varchar(10) NOT NULL, d_street_1 varchar(20) NOT NULL, d_street_2 varchar(20) NOT NULL, d_city varchar(20) NOT NULL, d_state char(2) NOT NULL, d_zip char(9) NOT NULL, d_tax numeric(4,4) NOT NULL, d_ytd numeric(16,2) NOT NULL, d_next_o_id int NOT NULL, PRIMARY KEY (d_w_id, d_id));
CREATE TABLE stock (s_i_id int NOT NULL, s_w_id int NOT NULL, s_quantity int NOT NULL, s_dist_01 char(24) NOT NULL, s_dist_02 char(24) NOT NULL, s_dist_03 char(24) NOT NULL, s_dist_04 char(24) NOT NULL, s_dist_05 char(24) NOT NULL, s_dist_06 char(24) NOT NULL, s_dist_07 char(24) NOT NULL, s_dist_08 char(24) NOT NULL, s_dist_09 char(24) NOT NULL, s_dist_10 char(24) NOT NULL, s_ytd int NOT NULL, s_order_cnt int NOT NULL, s_remote_cnt int NOT NULL, s_data varchar(50) NOT NULL, PRIMARY KEY (s_w_id, s_i_id));
CREATE TABLE customer (c_id int NOT NULL, c_d_id int NOT NULL, c_w_id int NOT NULL, c_first varchar(16) NOT NULL, c_middle char(2) NOT NULL, c_last varchar(16) NOT NULL, c_street_1 varchar(20) NOT NULL, c_street_2 varchar(20) NOT NULL, c_city varchar(20) NOT NULL, c_state char(2) NOT NULL, c_zip char(9) NOT NULL, c_phone char(16) NOT NULL, c_since timestamptz NOT NULL, c_credit char(2) NOT NULL, c_credit_lim numeric(12,2) NOT NULL, c_discount numeric(4,4) NOT NULL, c_balance numeric(16,2) NOT NULL, c_ytd_payment numeric(16,2) NOT NULL, c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL, c_data varchar(500) NOT NULL, PRIMARY KEY (c_w_id, c_d_id, c_id));
CREATE TABLE history (h_c_id int NOT NULL, h_c_d_id int NOT NULL, h_c_w_id int NOT NULL, h_d_id int NOT NULL, h_w_id int NOT NULL, h_date timestamptz NOT NULL, h_amount numeric(6,2) NOT NULL, h_data varchar(24) NOT NULL, id uuid NOT NULL DEFAULT gen_random_uuid(), PRIMARY KEY (id));
CREATE TABLE orders (o_id int NOT NULL, o_d_id int NOT NULL, o_w_id int NOT NULL, o_c_id int NOT NULL, o_entry_d timestamptz NOT NULL, o_carrier_id int, o_ol_cnt int NOT NULL, o_all_local int NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id));
CREATE TABLE new_order (no_o_id int NOT NULL, no_d_id int NOT NULL, no_w_id int NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id));
CREATE TABLE order_line (ol_o_id int NOT NULL, ol_d_id int NOT NULL, ol_w_id int NOT NULL, ol_number int NOT NULL, ol_i_id int NOT NULL, ol_supply_w_id int NOT NULL, ol_delivery_d timestamptz, ol_quantity int NOT NULL, ol_amount numeric(6,2) NOT NULL, ol_dist_info char(24) NOT NULL, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number));
CREATE TABLE tpcc_parameters (name varchar(32) NOT NULL, value varchar(64) NOT NULL, PRIMARY KEY (name));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY item (i_id, i_im_id, i_name, i_price, i_data) FROM STDIN; -- 50 times; 100000 rows, 2000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 50);
COPY warehouse (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 51);
COPY district (d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, d_next_o_id) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 52);
COPY stock (s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data) FROM STDIN; -- 100 times; 200000 rows, 2000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 152);
COPY customer (c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data) FROM STDIN; -- 30 times; 60000 rows, 2000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 182);
COPY history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) FROM STDIN; -- 30 times; 60000 rows, 2000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 212);
COPY orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) FROM STDIN; -- 30 times; 60000 rows, 2000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 242);
COPY new_order (no_o_id, no_d_id, no_w_id) FROM STDIN; -- 9 times; 18000 rows, 2000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 251);
COPY order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) FROM STDIN; -- 300 times; 600000 rows, 2000 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 551);
COPY tpcc_parameters (name, value) FROM STDIN; -- 6 rows; data left out
COMMIT;

-- creating primary keys
CREATE UNIQUE INDEX ASYNC customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
CREATE UNIQUE INDEX ASYNC orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);

-- vacuuming and analyzing
ANALYZE order_line;
ANALYZE stock;
ANALYZE customer;
ANALYZE orders;
ANALYZE history;
ANALYZE item;
ANALYZE new_order;
ANALYZE district;
ANALYZE warehouse;
ANALYZE tpcc_parameters;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(i_id), 0) AS keys FROM item;
SELECT count(*) AS rows, coalesce(sum(w_id), 0) AS keys FROM warehouse;
SELECT count(*) AS rows, coalesce(sum((d_w_id::bigint - 1) * 10 + d_id), 0) AS keys FROM district;
SELECT count(*) AS rows, coalesce(sum((s_w_id::bigint - 1) * 100000 + s_i_id), 0) AS keys FROM stock;
SELECT count(*) AS rows, coalesce(sum(((c_w_id::bigint - 1) * 10 + c_d_id - 1) * 3000 + c_id), 0) AS keys FROM customer;
SELECT count(*) AS rows, coalesce(sum(((h_c_w_id::bigint - 1) * 10 + h_c_d_id - 1) * 3000 + h_c_id), 0) AS keys FROM history;
SELECT count(*) AS rows, coalesce(sum(((o_w_id::bigint - 1) * 10 + o_d_id - 1) * 3000 + o_id), 0) AS keys FROM orders;
SELECT count(*) AS rows, coalesce(sum(((no_w_id::bigint - 1) * 10 + no_d_id - 1) * 900 + no_o_id - 2100), 0) AS keys FROM new_order;
SELECT count(*) AS rows, coalesce(sum((ol_w_id::bigint - 1) * 10 + ol_d_id), 0) AS keys FROM order_line;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM tpcc_parameters;
SELECT count(*) FROM warehouse WHERE w_ytd <> 300000 OR w_tax NOT BETWEEN 0 AND 0.2 OR length(w_name) NOT BETWEEN 6 AND 10 OR length(w_street_1) NOT BETWEEN 10 AND 20 OR length(w_street_2) NOT BETWEEN 10 AND 20 OR length(w_city) NOT BETWEEN 10 AND 20 OR w_state NOT SIMILAR TO '[A-Z][A-Z]' OR w_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT count(*) FROM district WHERE d_ytd <> 30000 OR d_next_o_id <> 3001 OR d_tax NOT BETWEEN 0 AND 0.2 OR length(d_name) NOT BETWEEN 6 AND 10 OR length(d_street_1) NOT BETWEEN 10 AND 20 OR length(d_street_2) NOT BETWEEN 10 AND 20 OR length(d_city) NOT BETWEEN 10 AND 20 OR d_state NOT SIMILAR TO '[A-Z][A-Z]' OR d_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT CASE WHEN min(s_quantity) <> 10 OR max(s_quantity) <> 100 OR (sum(s_quantity) - 55.0 * count(*)) * (sum(s_quantity) - 55.0 * count(*)) > 36 * 690.0 * count(*) OR max(s_ytd) <> 0 OR max(s_order_cnt) <> 0 OR max(s_remote_cnt) <> 0 OR min(s_ytd) <> 0 OR min(s_order_cnt) <> 0 OR min(s_remote_cnt) <> 0 OR min(length(s_data)) <> 26 OR max(length(s_data)) <> 50 OR min(length(s_dist_01)) <> 24 OR min(length(s_dist_02)) <> 24 OR min(length(s_dist_03)) <> 24 OR min(length(s_dist_04)) <> 24 OR min(length(s_dist_05)) <> 24 OR min(length(s_dist_06)) <> 24 OR min(length(s_dist_07)) <> 24 OR min(length(s_dist_08)) <> 24 OR min(length(s_dist_09)) <> 24 OR min(length(s_dist_10)) <> 24 OR (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) THEN 1 ELSE 0 END FROM stock;
SELECT count(*) FROM (SELECT c_w_id FROM customer GROUP BY c_w_id, c_d_id HAVING count(*) <> 3000 OR count(DISTINCT c_last) <> 1000 OR min(c_balance) <> -10 OR max(c_balance) <> -10 OR min(c_ytd_payment) <> 10 OR max(c_ytd_payment) <> 10 OR min(c_payment_cnt) <> 1 OR max(c_payment_cnt) <> 1 OR max(c_delivery_cnt) <> 0 OR min(c_discount) < 0 OR max(c_discount) > 0.5 OR min(c_credit_lim) <> 50000 OR max(c_credit_lim) <> 50000) d;
SELECT CASE WHEN (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR sum(CASE WHEN c_credit IN ('BC', 'GC') AND c_middle = 'OE' AND c_zip LIKE '____11111' AND c_state SIMILAR TO '[A-Z][A-Z]' AND length(c_phone) = 16 THEN 0 ELSE 1 END) <> 0 OR min(length(c_first)) <> 8 OR max(length(c_first)) <> 16 OR min(length(c_street_1)) <> 10 OR max(length(c_street_1)) <> 20 OR min(length(c_street_2)) <> 10 OR max(length(c_street_2)) <> 20 OR min(length(c_city)) <> 10 OR max(length(c_city)) <> 20 OR min(length(c_data)) <> 300 OR max(length(c_data)) <> 500 THEN 1 ELSE 0 END FROM customer;
SELECT CASE WHEN (max(n) - 52.257812 * (sum(n) / 3000)) * (max(n) - 52.257812 * (sum(n) / 3000)) > 36 * 49.944131 * (sum(n) / 3000) THEN 1 ELSE 0 END FROM (SELECT c_last, count(*) AS n FROM customer GROUP BY c_last) names;
SELECT count(*) FROM (SELECT h_w_id FROM history GROUP BY h_w_id, h_d_id HAVING count(*) <> 3000 OR count(DISTINCT h_c_id) <> 3000 OR min(h_amount) <> 10 OR max(h_amount) <> 10 OR min(length(h_data)) < 12 OR max(length(h_data)) > 24 OR sum(CASE WHEN h_c_w_id <> h_w_id OR h_c_d_id <> h_d_id THEN 1 ELSE 0 END) <> 0) d;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING count(*) <> 900 OR min(no_o_id) <> 2101 OR max(no_o_id) <> 3000) d;
SELECT count(*) FROM (SELECT o_w_id FROM orders GROUP BY o_w_id, o_d_id HAVING count(*) <> 3000 OR count(DISTINCT o_c_id) <> 3000 OR min(o_c_id) <> 1 OR max(o_c_id) <> 3000 OR count(o_carrier_id) <> 2100 OR min(o_ol_cnt) <> 5 OR max(o_ol_cnt) <> 15 OR sum(o_ol_cnt) <> 30000 OR min(o_all_local) <> 1 OR min(o_carrier_id) <> 1 OR max(o_carrier_id) <> 10 OR sum(CASE WHEN o_c_id = o_id THEN 1 ELSE 0 END) > 20 OR max(CASE WHEN o_carrier_id IS NOT NULL THEN o_id END) <> 2100) d;
SELECT count(*) FROM order_line WHERE ol_supply_w_id <> ol_w_id OR ol_quantity <> 5 OR ol_i_id NOT BETWEEN 1 AND 100000 OR ol_number NOT BETWEEN 1 AND 15 OR (ol_o_id < 2101) <> (ol_delivery_d IS NOT NULL) OR (ol_o_id < 2101) <> (ol_amount = 0);
SELECT CASE WHEN (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) * (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) > 36 * 8333317.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END) OR (sum(ol_i_id) - 50000.5 * count(*)) * (sum(ol_i_id) - 50000.5 * count(*)) > 36 * 833333333.0 * count(*) OR min(length(ol_dist_info)) <> 24 THEN 1 ELSE 0 END FROM order_line;
SELECT CASE WHEN (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR min(length(i_data)) <> 26 OR max(length(i_data)) <> 50 OR min(length(i_name)) <> 14 OR max(length(i_name)) <> 24 OR min(i_price) < 1 OR max(i_price) > 100 OR min(i_im_id) < 1 OR max(i_im_id) > 10000 OR (sum(i_price) - 50.5 * count(*)) * (sum(i_price) - 50.5 * count(*)) > 36 * 817.0 * count(*) THEN 1 ELSE 0 END FROM item;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS ytd FROM district GROUP BY d_w_id) d ON d_w_id = w_id WHERE w_ytd IS DISTINCT FROM d.ytd) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last FROM new_order GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id WHERE d_next_o_id - 1 IS DISTINCT FROM o.last OR d_next_o_id - 1 <> coalesce(n.last, d_next_o_id - 1)) violations;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS lines FROM orders GROUP BY o_w_id, o_d_id) o FULL JOIN (SELECT ol_w_id, ol_d_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE o.lines IS DISTINCT FROM l.lines) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, o_id FROM orders WHERE o_carrier_id IS NULL) o FULL JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id WHERE o_w_id IS NULL OR no_w_id IS NULL) violations;
SELECT count(*) FROM (SELECT o_w_id FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_ol_cnt <> coalesce(l.lines, 0)) violations;
SELECT count(*) FROM (SELECT ol_w_id FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)) violations;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id) h ON h_w_id = w_id WHERE w_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id WHERE c_balance <> coalesce(d.amount, 0) - coalesce(p.amount, 0)) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS n, sum(CASE WHEN o_id > 2100 AND o_carrier_id IS NOT NULL THEN 1 ELSE 0 END) AS delivered FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS n FROM new_order GROUP BY no_w_id, no_d_id) q ON no_w_id = d_w_id AND no_d_id = d_id WHERE o.n - coalesce(q.n, 0) IS DISTINCT FROM 2100 + o.delivered) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_balance + c_ytd_payment <> coalesce(d.amount, 0)) violations;
SELECT count(*) FROM (SELECT s_i_id FROM stock LEFT JOIN (SELECT ol_supply_w_id, ol_i_id, sum(ol_quantity) AS ytd, count(*) AS orders, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line WHERE ol_o_id > 3000 GROUP BY ol_supply_w_id, ol_i_id) l ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id WHERE s_quantity NOT BETWEEN 10 AND 100 OR s_ytd <> coalesce(l.ytd, 0) OR s_order_cnt <> coalesce(l.orders, 0) OR s_remote_cnt <> coalesce(l.remote, 0)) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, count(*) AS deliveries FROM orders WHERE o_id > 2100 AND o_carrier_id IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_payment_cnt <> coalesce(p.payments, 0) OR c_ytd_payment <> coalesce(p.amount, 0) OR c_delivery_cnt <> coalesce(o.deliveries, 0)) violations;
SELECT count(*) FROM (SELECT coalesce(o_id, ol_o_id) FROM orders FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, min(ol_number) AS first, max(ol_number) AS last, count(*) AS n, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_id IS NULL OR l.n IS NULL OR l.first <> 1 OR l.last <> l.n OR (o_all_local = 1) <> (l.remote = 0)) violations;
SELECT count(*) FROM (SELECT ol_o_id FROM order_line JOIN item ON i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_amount <> ol_quantity * i_price UNION ALL SELECT ol_o_id FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_supply_w_id = ol_w_id AND ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END UNION ALL SELECT s_i_id FROM stock JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id, ol_d_id, ol_dist_info FROM order_line WHERE ol_o_id > 3000 AND ol_supply_w_id <> ol_w_id) l ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id WHERE ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END) violations;
SELECT (SELECT count(*) FROM (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c) - (SELECT count(*) FROM stock p JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c ON c.ol_supply_w_id = p.s_w_id AND c.ol_i_id = p.s_i_id);
SELECT count(*) FROM stock c LEFT JOIN item p ON c.s_i_id = p.i_id WHERE p.i_id IS NULL;
SELECT count(*) FROM stock c LEFT JOIN warehouse p ON c.s_w_id = p.w_id WHERE p.w_id IS NULL;
SELECT count(*) FROM new_order c LEFT JOIN orders p ON c.no_w_id = p.o_w_id AND c.no_d_id = p.o_d_id AND c.no_o_id = p.o_id WHERE p.o_w_id IS NULL;
SELECT count(*) FROM orders c LEFT JOIN customer p ON c.o_w_id = p.c_w_id AND c.o_d_id = p.c_d_id AND c.o_c_id = p.c_id WHERE p.c_w_id IS NULL;
SELECT (SELECT count(*) FROM (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c) - (SELECT count(*) FROM customer p JOIN (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c ON c.h_c_w_id = p.c_w_id AND c.h_c_d_id = p.c_d_id AND c.h_c_id = p.c_id);
SELECT count(*) FROM history c LEFT JOIN district p ON c.h_w_id = p.d_w_id AND c.h_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM customer c LEFT JOIN district p ON c.c_w_id = p.d_w_id AND c.c_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM district c LEFT JOIN warehouse p ON c.d_w_id = p.w_id WHERE p.w_id IS NULL;
DROP TABLE IF EXISTS pgdyno_load;


-- tpcc at scale 2 on Amazon Aurora PostgreSQL Limitless Database (aurora-limitless), over 2 connections

-- dropping old tables
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"number"}';
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=tpcc …'); -- what is loaded, to be compared by --resume
DROP PROCEDURE IF EXISTS neword(int, int, int, int[], int[], int[], int, timestamptz, numeric, numeric, numeric, text, text, numeric, text[], numeric[], int[], text[], numeric[], boolean);
DROP FUNCTION IF EXISTS payment(int, int, int, int, int, text, numeric);
DROP FUNCTION IF EXISTS ostat(int, int, int, text);
DROP FUNCTION IF EXISTS delivery(int, int);
DROP FUNCTION IF EXISTS slev(int, int, int);
DROP TABLE IF EXISTS order_line, new_order, orders, history, customer, stock, district, warehouse, item, tpcc_parameters;

-- creating tables
SET rds_aurora.limitless_create_table_mode = 'reference';
CREATE TABLE item (i_id int NOT NULL, i_im_id int NOT NULL, i_name varchar(24) NOT NULL, i_price numeric(5,2) NOT NULL, i_data varchar(50) NOT NULL, PRIMARY KEY (i_id));
RESET rds_aurora.limitless_create_table_mode;
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"w_id"}';
CREATE TABLE warehouse (w_id int NOT NULL, w_name varchar(10) NOT NULL, w_street_1 varchar(20) NOT NULL, w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, w_zip char(9) NOT NULL, w_tax numeric(4,4) NOT NULL, w_ytd numeric(16,2) NOT NULL, PRIMARY KEY (w_id));
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"d_w_id"}';
SET rds_aurora.limitless_create_table_collocate_with = 'warehouse';
CREATE TABLE district (d_id int NOT NULL, d_w_id int NOT NULL, d_name varchar(10) NOT NULL, d_street_1 varchar(20) NOT NULL, d_street_2 varchar(20) NOT NULL, d_city varchar(20) NOT NULL, d_state char(2) NOT NULL, d_zip char(9) NOT NULL, d_tax numeric(4,4) NOT NULL, d_ytd numeric(16,2) NOT NULL, d_next_o_id int NOT NULL, PRIMARY KEY (d_w_id, d_id));
RESET rds_aurora.limitless_create_table_collocate_with;
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"s_w_id"}';
SET rds_aurora.limitless_create_table_collocate_with = 'warehouse';
CREATE TABLE stock (s_i_id int NOT NULL, s_w_id int NOT NULL, s_quantity int NOT NULL, s_dist_01 char(24) NOT NULL, s_dist_02 char(24) NOT NULL, s_dist_03 char(24) NOT NULL, s_dist_04 char(24) NOT NULL, s_dist_05 char(24) NOT NULL, s_dist_06 char(24) NOT NULL, s_dist_07 char(24) NOT NULL, s_dist_08 char(24) NOT NULL, s_dist_09 char(24) NOT NULL, s_dist_10 char(24) NOT NULL, s_ytd int NOT NULL, s_order_cnt int NOT NULL, s_remote_cnt int NOT NULL, s_data varchar(50) NOT NULL, PRIMARY KEY (s_w_id, s_i_id));
RESET rds_aurora.limitless_create_table_collocate_with;
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"c_w_id"}';
SET rds_aurora.limitless_create_table_collocate_with = 'warehouse';
CREATE TABLE customer (c_id int NOT NULL, c_d_id int NOT NULL, c_w_id int NOT NULL, c_first varchar(16) NOT NULL, c_middle char(2) NOT NULL, c_last varchar(16) NOT NULL, c_street_1 varchar(20) NOT NULL, c_street_2 varchar(20) NOT NULL, c_city varchar(20) NOT NULL, c_state char(2) NOT NULL, c_zip char(9) NOT NULL, c_phone char(16) NOT NULL, c_since timestamptz NOT NULL, c_credit char(2) NOT NULL, c_credit_lim numeric(12,2) NOT NULL, c_discount numeric(4,4) NOT NULL, c_balance numeric(16,2) NOT NULL, c_ytd_payment numeric(16,2) NOT NULL, c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL, c_data varchar(500) NOT NULL, PRIMARY KEY (c_w_id, c_d_id, c_id));
RESET rds_aurora.limitless_create_table_collocate_with;
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"h_w_id"}';
SET rds_aurora.limitless_create_table_collocate_with = 'warehouse';
CREATE TABLE history (h_c_id int NOT NULL, h_c_d_id int NOT NULL, h_c_w_id int NOT NULL, h_d_id int NOT NULL, h_w_id int NOT NULL, h_date timestamptz NOT NULL, h_amount numeric(6,2) NOT NULL, h_data varchar(24) NOT NULL);
RESET rds_aurora.limitless_create_table_collocate_with;
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"o_w_id"}';
SET rds_aurora.limitless_create_table_collocate_with = 'warehouse';
CREATE TABLE orders (o_id int NOT NULL, o_d_id int NOT NULL, o_w_id int NOT NULL, o_c_id int NOT NULL, o_entry_d timestamptz NOT NULL, o_carrier_id int, o_ol_cnt int NOT NULL, o_all_local int NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id));
RESET rds_aurora.limitless_create_table_collocate_with;
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"no_w_id"}';
SET rds_aurora.limitless_create_table_collocate_with = 'warehouse';
CREATE TABLE new_order (no_o_id int NOT NULL, no_d_id int NOT NULL, no_w_id int NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id));
RESET rds_aurora.limitless_create_table_collocate_with;
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
SET rds_aurora.limitless_create_table_mode = 'sharded';
SET rds_aurora.limitless_create_table_shard_key = '{"ol_w_id"}';
SET rds_aurora.limitless_create_table_collocate_with = 'warehouse';
CREATE TABLE order_line (ol_o_id int NOT NULL, ol_d_id int NOT NULL, ol_w_id int NOT NULL, ol_number int NOT NULL, ol_i_id int NOT NULL, ol_supply_w_id int NOT NULL, ol_delivery_d timestamptz, ol_quantity int NOT NULL, ol_amount numeric(6,2) NOT NULL, ol_dist_info char(24) NOT NULL, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number));
RESET rds_aurora.limitless_create_table_collocate_with;
RESET rds_aurora.limitless_create_table_shard_key;
RESET rds_aurora.limitless_create_table_mode;
CREATE TABLE tpcc_parameters (name varchar(32) NOT NULL, value varchar(64) NOT NULL, PRIMARY KEY (name));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY item (i_id, i_im_id, i_name, i_price, i_data) FROM STDIN; -- 5 times; 100000 rows, 20971 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 5);
COPY warehouse (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 6);
COPY district (d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, d_next_o_id) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 7);
COPY stock (s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data) FROM STDIN; -- 33 times; 200000 rows, 6241 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 40);
COPY customer (c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data) FROM STDIN; -- 21 times; 60000 rows, 2912 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 61);
COPY history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) FROM STDIN; -- 3 times; 60000 rows, 21845 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 64);
COPY orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) FROM STDIN; -- 2 times; 60000 rows, 32768 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 66);
COPY new_order (no_o_id, no_d_id, no_w_id) FROM STDIN; -- 18000 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 67);
COPY order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) FROM STDIN; -- 29 times; 600000 rows, 20971 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 96);
COPY tpcc_parameters (name, value) FROM STDIN; -- 6 rows; data left out
COMMIT;

-- creating primary keys
CREATE UNIQUE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
CREATE UNIQUE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);

-- vacuuming and analyzing
VACUUM (ANALYZE) order_line;
VACUUM (ANALYZE) stock;
VACUUM (ANALYZE) customer;
VACUUM (ANALYZE) orders;
VACUUM (ANALYZE) history;
VACUUM (ANALYZE) item;
VACUUM (ANALYZE) new_order;
VACUUM (ANALYZE) district;
VACUUM (ANALYZE) warehouse;
VACUUM (ANALYZE) tpcc_parameters;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(i_id), 0) AS keys FROM item;
SELECT count(*) AS rows, coalesce(sum(w_id), 0) AS keys FROM warehouse;
SELECT count(*) AS rows, coalesce(sum((d_w_id::bigint - 1) * 10 + d_id), 0) AS keys FROM district;
SELECT count(*) AS rows, coalesce(sum((s_w_id::bigint - 1) * 100000 + s_i_id), 0) AS keys FROM stock;
SELECT count(*) AS rows, coalesce(sum(((c_w_id::bigint - 1) * 10 + c_d_id - 1) * 3000 + c_id), 0) AS keys FROM customer;
SELECT count(*) AS rows, coalesce(sum(((h_c_w_id::bigint - 1) * 10 + h_c_d_id - 1) * 3000 + h_c_id), 0) AS keys FROM history;
SELECT count(*) AS rows, coalesce(sum(((o_w_id::bigint - 1) * 10 + o_d_id - 1) * 3000 + o_id), 0) AS keys FROM orders;
SELECT count(*) AS rows, coalesce(sum(((no_w_id::bigint - 1) * 10 + no_d_id - 1) * 900 + no_o_id - 2100), 0) AS keys FROM new_order;
SELECT count(*) AS rows, coalesce(sum((ol_w_id::bigint - 1) * 10 + ol_d_id), 0) AS keys FROM order_line;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM tpcc_parameters;
SELECT count(*) FROM warehouse WHERE w_ytd <> 300000 OR w_tax NOT BETWEEN 0 AND 0.2 OR length(w_name) NOT BETWEEN 6 AND 10 OR length(w_street_1) NOT BETWEEN 10 AND 20 OR length(w_street_2) NOT BETWEEN 10 AND 20 OR length(w_city) NOT BETWEEN 10 AND 20 OR w_state NOT SIMILAR TO '[A-Z][A-Z]' OR w_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT count(*) FROM district WHERE d_ytd <> 30000 OR d_next_o_id <> 3001 OR d_tax NOT BETWEEN 0 AND 0.2 OR length(d_name) NOT BETWEEN 6 AND 10 OR length(d_street_1) NOT BETWEEN 10 AND 20 OR length(d_street_2) NOT BETWEEN 10 AND 20 OR length(d_city) NOT BETWEEN 10 AND 20 OR d_state NOT SIMILAR TO '[A-Z][A-Z]' OR d_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT CASE WHEN min(s_quantity) <> 10 OR max(s_quantity) <> 100 OR (sum(s_quantity) - 55.0 * count(*)) * (sum(s_quantity) - 55.0 * count(*)) > 36 * 690.0 * count(*) OR max(s_ytd) <> 0 OR max(s_order_cnt) <> 0 OR max(s_remote_cnt) <> 0 OR min(s_ytd) <> 0 OR min(s_order_cnt) <> 0 OR min(s_remote_cnt) <> 0 OR min(length(s_data)) <> 26 OR max(length(s_data)) <> 50 OR min(length(s_dist_01)) <> 24 OR min(length(s_dist_02)) <> 24 OR min(length(s_dist_03)) <> 24 OR min(length(s_dist_04)) <> 24 OR min(length(s_dist_05)) <> 24 OR min(length(s_dist_06)) <> 24 OR min(length(s_dist_07)) <> 24 OR min(length(s_dist_08)) <> 24 OR min(length(s_dist_09)) <> 24 OR min(length(s_dist_10)) <> 24 OR (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) THEN 1 ELSE 0 END FROM stock;
SELECT count(*) FROM (SELECT c_w_id FROM customer GROUP BY c_w_id, c_d_id HAVING count(*) <> 3000 OR count(DISTINCT c_last) <> 1000 OR min(c_balance) <> -10 OR max(c_balance) <> -10 OR min(c_ytd_payment) <> 10 OR max(c_ytd_payment) <> 10 OR min(c_payment_cnt) <> 1 OR max(c_payment_cnt) <> 1 OR max(c_delivery_cnt) <> 0 OR min(c_discount) < 0 OR max(c_discount) > 0.5 OR min(c_credit_lim) <> 50000 OR max(c_credit_lim) <> 50000) d;
SELECT CASE WHEN (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR sum(CASE WHEN c_credit IN ('BC', 'GC') AND c_middle = 'OE' AND c_zip LIKE '____11111' AND c_state SIMILAR TO '[A-Z][A-Z]' AND length(c_phone) = 16 THEN 0 ELSE 1 END) <> 0 OR min(length(c_first)) <> 8 OR max(length(c_first)) <> 16 OR min(length(c_street_1)) <> 10 OR max(length(c_street_1)) <> 20 OR min(length(c_street_2)) <> 10 OR max(length(c_street_2)) <> 20 OR min(length(c_city)) <> 10 OR max(length(c_city)) <> 20 OR min(length(c_data)) <> 300 OR max(length(c_data)) <> 500 THEN 1 ELSE 0 END FROM customer;
SELECT CASE WHEN (max(n) - 52.257812 * (sum(n) / 3000)) * (max(n) - 52.257812 * (sum(n) / 3000)) > 36 * 49.944131 * (sum(n) / 3000) THEN 1 ELSE 0 END FROM (SELECT c_last, count(*) AS n FROM customer GROUP BY c_last) names;
SELECT count(*) FROM (SELECT h_w_id FROM history GROUP BY h_w_id, h_d_id HAVING count(*) <> 3000 OR count(DISTINCT h_c_id) <> 3000 OR min(h_amount) <> 10 OR max(h_amount) <> 10 OR min(length(h_data)) < 12 OR max(length(h_data)) > 24 OR sum(CASE WHEN h_c_w_id <> h_w_id OR h_c_d_id <> h_d_id THEN 1 ELSE 0 END) <> 0) d;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING count(*) <> 900 OR min(no_o_id) <> 2101 OR max(no_o_id) <> 3000) d;
SELECT count(*) FROM (SELECT o_w_id FROM orders GROUP BY o_w_id, o_d_id HAVING count(*) <> 3000 OR count(DISTINCT o_c_id) <> 3000 OR min(o_c_id) <> 1 OR max(o_c_id) <> 3000 OR count(o_carrier_id) <> 2100 OR min(o_ol_cnt) <> 5 OR max(o_ol_cnt) <> 15 OR sum(o_ol_cnt) <> 30000 OR min(o_all_local) <> 1 OR min(o_carrier_id) <> 1 OR max(o_carrier_id) <> 10 OR sum(CASE WHEN o_c_id = o_id THEN 1 ELSE 0 END) > 20 OR max(CASE WHEN o_carrier_id IS NOT NULL THEN o_id END) <> 2100) d;
SELECT count(*) FROM order_line WHERE ol_supply_w_id <> ol_w_id OR ol_quantity <> 5 OR ol_i_id NOT BETWEEN 1 AND 100000 OR ol_number NOT BETWEEN 1 AND 15 OR (ol_o_id < 2101) <> (ol_delivery_d IS NOT NULL) OR (ol_o_id < 2101) <> (ol_amount = 0);
SELECT CASE WHEN (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) * (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) > 36 * 8333317.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END) OR (sum(ol_i_id) - 50000.5 * count(*)) * (sum(ol_i_id) - 50000.5 * count(*)) > 36 * 833333333.0 * count(*) OR min(length(ol_dist_info)) <> 24 THEN 1 ELSE 0 END FROM order_line;
SELECT CASE WHEN (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR min(length(i_data)) <> 26 OR max(length(i_data)) <> 50 OR min(length(i_name)) <> 14 OR max(length(i_name)) <> 24 OR min(i_price) < 1 OR max(i_price) > 100 OR min(i_im_id) < 1 OR max(i_im_id) > 10000 OR (sum(i_price) - 50.5 * count(*)) * (sum(i_price) - 50.5 * count(*)) > 36 * 817.0 * count(*) THEN 1 ELSE 0 END FROM item;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS ytd FROM district GROUP BY d_w_id) d ON d_w_id = w_id WHERE w_ytd IS DISTINCT FROM d.ytd) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last FROM new_order GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id WHERE d_next_o_id - 1 IS DISTINCT FROM o.last OR d_next_o_id - 1 <> coalesce(n.last, d_next_o_id - 1)) violations;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS lines FROM orders GROUP BY o_w_id, o_d_id) o FULL JOIN (SELECT ol_w_id, ol_d_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE o.lines IS DISTINCT FROM l.lines) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, o_id FROM orders WHERE o_carrier_id IS NULL) o FULL JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id WHERE o_w_id IS NULL OR no_w_id IS NULL) violations;
SELECT count(*) FROM (SELECT o_w_id FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_ol_cnt <> coalesce(l.lines, 0)) violations;
SELECT count(*) FROM (SELECT ol_w_id FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)) violations;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id) h ON h_w_id = w_id WHERE w_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id WHERE c_balance <> coalesce(d.amount, 0) - coalesce(p.amount, 0)) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS n, sum(CASE WHEN o_id > 2100 AND o_carrier_id IS NOT NULL THEN 1 ELSE 0 END) AS delivered FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS n FROM new_order GROUP BY no_w_id, no_d_id) q ON no_w_id = d_w_id AND no_d_id = d_id WHERE o.n - coalesce(q.n, 0) IS DISTINCT FROM 2100 + o.delivered) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_balance + c_ytd_payment <> coalesce(d.amount, 0)) violations;
SELECT count(*) FROM (SELECT s_i_id FROM stock LEFT JOIN (SELECT ol_supply_w_id, ol_i_id, sum(ol_quantity) AS ytd, count(*) AS orders, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line WHERE ol_o_id > 3000 GROUP BY ol_supply_w_id, ol_i_id) l ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id WHERE s_quantity NOT BETWEEN 10 AND 100 OR s_ytd <> coalesce(l.ytd, 0) OR s_order_cnt <> coalesce(l.orders, 0) OR s_remote_cnt <> coalesce(l.remote, 0)) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, count(*) AS deliveries FROM orders WHERE o_id > 2100 AND o_carrier_id IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_payment_cnt <> coalesce(p.payments, 0) OR c_ytd_payment <> coalesce(p.amount, 0) OR c_delivery_cnt <> coalesce(o.deliveries, 0)) violations;
SELECT count(*) FROM (SELECT coalesce(o_id, ol_o_id) FROM orders FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, min(ol_number) AS first, max(ol_number) AS last, count(*) AS n, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_id IS NULL OR l.n IS NULL OR l.first <> 1 OR l.last <> l.n OR (o_all_local = 1) <> (l.remote = 0)) violations;
SELECT count(*) FROM (SELECT ol_o_id FROM order_line JOIN item ON i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_amount <> ol_quantity * i_price UNION ALL SELECT ol_o_id FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_supply_w_id = ol_w_id AND ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END UNION ALL SELECT s_i_id FROM stock JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id, ol_d_id, ol_dist_info FROM order_line WHERE ol_o_id > 3000 AND ol_supply_w_id <> ol_w_id) l ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id WHERE ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END) violations;
SELECT (SELECT count(*) FROM (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c) - (SELECT count(*) FROM stock p JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c ON c.ol_supply_w_id = p.s_w_id AND c.ol_i_id = p.s_i_id);
SELECT count(*) FROM stock c LEFT JOIN item p ON c.s_i_id = p.i_id WHERE p.i_id IS NULL;
SELECT count(*) FROM stock c LEFT JOIN warehouse p ON c.s_w_id = p.w_id WHERE p.w_id IS NULL;
SELECT count(*) FROM new_order c LEFT JOIN orders p ON c.no_w_id = p.o_w_id AND c.no_d_id = p.o_d_id AND c.no_o_id = p.o_id WHERE p.o_w_id IS NULL;
SELECT count(*) FROM orders c LEFT JOIN customer p ON c.o_w_id = p.c_w_id AND c.o_d_id = p.c_d_id AND c.o_c_id = p.c_id WHERE p.c_w_id IS NULL;
SELECT (SELECT count(*) FROM (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c) - (SELECT count(*) FROM customer p JOIN (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c ON c.h_c_w_id = p.c_w_id AND c.h_c_d_id = p.c_d_id AND c.h_c_id = p.c_id);
SELECT count(*) FROM history c LEFT JOIN district p ON c.h_w_id = p.d_w_id AND c.h_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM customer c LEFT JOIN district p ON c.c_w_id = p.d_w_id AND c.c_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM district c LEFT JOIN warehouse p ON c.d_w_id = p.w_id WHERE p.w_id IS NULL;
DROP TABLE IF EXISTS pgdyno_load;


-- tpcc at scale 2 on Citus (citus), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text, PRIMARY KEY (number, part));
SELECT create_distributed_table('pgdyno_load', 'number', colocate_with => 'none');
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=tpcc …'); -- what is loaded, to be compared by --resume
DROP PROCEDURE IF EXISTS neword(int, int, int, int[], int[], int[], int, timestamptz, numeric, numeric, numeric, text, text, numeric, text[], numeric[], int[], text[], numeric[], boolean);
DROP FUNCTION IF EXISTS payment(int, int, int, int, int, text, numeric);
DROP FUNCTION IF EXISTS ostat(int, int, int, text);
DROP FUNCTION IF EXISTS delivery(int, int);
DROP FUNCTION IF EXISTS slev(int, int, int);
DROP TABLE IF EXISTS order_line, new_order, orders, history, customer, stock, district, warehouse, item, tpcc_parameters;

-- creating tables
CREATE TABLE item (i_id int NOT NULL, i_im_id int NOT NULL, i_name varchar(24) NOT NULL, i_price numeric(5,2) NOT NULL, i_data varchar(50) NOT NULL, PRIMARY KEY (i_id));
SELECT create_reference_table('item');
CREATE TABLE warehouse (w_id int NOT NULL, w_name varchar(10) NOT NULL, w_street_1 varchar(20) NOT NULL, w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, w_zip char(9) NOT NULL, w_tax numeric(4,4) NOT NULL, w_ytd numeric(16,2) NOT NULL, PRIMARY KEY (w_id)) WITH (fillfactor=10);
SELECT create_distributed_table('warehouse', 'w_id', colocate_with => 'none');
CREATE TABLE district (d_id int NOT NULL, d_w_id int NOT NULL, d_name varchar(10) NOT NULL, d_street_1 varchar(20) NOT NULL, d_street_2 varchar(20) NOT NULL, d_city varchar(20) NOT NULL, d_state char(2) NOT NULL, d_zip char(9) NOT NULL, d_tax numeric(4,4) NOT NULL, d_ytd numeric(16,2) NOT NULL, d_next_o_id int NOT NULL, PRIMARY KEY (d_w_id, d_id)) WITH (fillfactor=10);
SELECT create_distributed_table('district', 'd_w_id', colocate_with => 'warehouse');
CREATE TABLE stock (s_i_id int NOT NULL, s_w_id int NOT NULL, s_quantity int NOT NULL, s_dist_01 char(24) NOT NULL, s_dist_02 char(24) NOT NULL, s_dist_03 char(24) NOT NULL, s_dist_04 char(24) NOT NULL, s_dist_05 char(24) NOT NULL, s_dist_06 char(24) NOT NULL, s_dist_07 char(24) NOT NULL, s_dist_08 char(24) NOT NULL, s_dist_09 char(24) NOT NULL, s_dist_10 char(24) NOT NULL, s_ytd int NOT NULL, s_order_cnt int NOT NULL, s_remote_cnt int NOT NULL, s_data varchar(50) NOT NULL, PRIMARY KEY (s_w_id, s_i_id)) WITH (fillfactor=90);
SELECT create_distributed_table('stock', 's_w_id', colocate_with => 'warehouse');
CREATE TABLE customer (c_id int NOT NULL, c_d_id int NOT NULL, c_w_id int NOT NULL, c_first varchar(16) NOT NULL, c_middle char(2) NOT NULL, c_last varchar(16) NOT NULL, c_street_1 varchar(20) NOT NULL, c_street_2 varchar(20) NOT NULL, c_city varchar(20) NOT NULL, c_state char(2) NOT NULL, c_zip char(9) NOT NULL, c_phone char(16) NOT NULL, c_since timestamptz NOT NULL, c_credit char(2) NOT NULL, c_credit_lim numeric(12,2) NOT NULL, c_discount numeric(4,4) NOT NULL, c_balance numeric(16,2) NOT NULL, c_ytd_payment numeric(16,2) NOT NULL, c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL, c_data varchar(500) NOT NULL, PRIMARY KEY (c_w_id, c_d_id, c_id)) WITH (fillfactor=90);
SELECT create_distributed_table('customer', 'c_w_id', colocate_with => 'warehouse');
CREATE TABLE history (h_c_id int NOT NULL, h_c_d_id int NOT NULL, h_c_w_id int NOT NULL, h_d_id int NOT NULL, h_w_id int NOT NULL, h_date timestamptz NOT NULL, h_amount numeric(6,2) NOT NULL, h_data varchar(24) NOT NULL);
SELECT create_distributed_table('history', 'h_w_id', colocate_with => 'warehouse');
CREATE TABLE orders (o_id int NOT NULL, o_d_id int NOT NULL, o_w_id int NOT NULL, o_c_id int NOT NULL, o_entry_d timestamptz NOT NULL, o_carrier_id int, o_ol_cnt int NOT NULL, o_all_local int NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id));
SELECT create_distributed_table('orders', 'o_w_id', colocate_with => 'warehouse');
CREATE TABLE new_order (no_o_id int NOT NULL, no_d_id int NOT NULL, no_w_id int NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id));
SELECT create_distributed_table('new_order', 'no_w_id', colocate_with => 'warehouse');
CREATE TABLE order_line (ol_o_id int NOT NULL, ol_d_id int NOT NULL, ol_w_id int NOT NULL, ol_number int NOT NULL, ol_i_id int NOT NULL, ol_supply_w_id int NOT NULL, ol_delivery_d timestamptz, ol_quantity int NOT NULL, ol_amount numeric(6,2) NOT NULL, ol_dist_info char(24) NOT NULL, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number));
SELECT create_distributed_table('order_line', 'ol_w_id', colocate_with => 'warehouse');
CREATE TABLE tpcc_parameters (name varchar(32) NOT NULL, value varchar(64) NOT NULL, PRIMARY KEY (name));
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY item (i_id, i_im_id, i_name, i_price, i_data) FROM STDIN; -- 5 times; 100000 rows, 20971 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 5);
COPY warehouse (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 6);
COPY district (d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, d_next_o_id) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 7);
COPY stock (s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data) FROM STDIN; -- 33 times; 200000 rows, 6241 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 40);
COPY customer (c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data) FROM STDIN; -- 21 times; 60000 rows, 2912 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 61);
COPY history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) FROM STDIN; -- 3 times; 60000 rows, 21845 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 64);
COPY orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) FROM STDIN; -- 2 times; 60000 rows, 32768 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 66);
COPY new_order (no_o_id, no_d_id, no_w_id) FROM STDIN; -- 18000 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 67);
COPY order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) FROM STDIN; -- 29 times; 600000 rows, 20971 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 96);
COPY tpcc_parameters (name, value) FROM STDIN; -- 6 rows; data left out
COMMIT;

-- creating primary keys
CREATE UNIQUE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
CREATE UNIQUE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);

-- vacuuming and analyzing
VACUUM (ANALYZE) order_line;
VACUUM (ANALYZE) stock;
VACUUM (ANALYZE) customer;
VACUUM (ANALYZE) orders;
VACUUM (ANALYZE) history;
VACUUM (ANALYZE) item;
VACUUM (ANALYZE) new_order;
VACUUM (ANALYZE) district;
VACUUM (ANALYZE) warehouse;
VACUUM (ANALYZE) tpcc_parameters;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(i_id), 0) AS keys FROM item;
SELECT count(*) AS rows, coalesce(sum(w_id), 0) AS keys FROM warehouse;
SELECT count(*) AS rows, coalesce(sum((d_w_id::bigint - 1) * 10 + d_id), 0) AS keys FROM district;
SELECT count(*) AS rows, coalesce(sum((s_w_id::bigint - 1) * 100000 + s_i_id), 0) AS keys FROM stock;
SELECT count(*) AS rows, coalesce(sum(((c_w_id::bigint - 1) * 10 + c_d_id - 1) * 3000 + c_id), 0) AS keys FROM customer;
SELECT count(*) AS rows, coalesce(sum(((h_c_w_id::bigint - 1) * 10 + h_c_d_id - 1) * 3000 + h_c_id), 0) AS keys FROM history;
SELECT count(*) AS rows, coalesce(sum(((o_w_id::bigint - 1) * 10 + o_d_id - 1) * 3000 + o_id), 0) AS keys FROM orders;
SELECT count(*) AS rows, coalesce(sum(((no_w_id::bigint - 1) * 10 + no_d_id - 1) * 900 + no_o_id - 2100), 0) AS keys FROM new_order;
SELECT count(*) AS rows, coalesce(sum((ol_w_id::bigint - 1) * 10 + ol_d_id), 0) AS keys FROM order_line;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM tpcc_parameters;
SELECT count(*) FROM warehouse WHERE w_ytd <> 300000 OR w_tax NOT BETWEEN 0 AND 0.2 OR length(w_name) NOT BETWEEN 6 AND 10 OR length(w_street_1) NOT BETWEEN 10 AND 20 OR length(w_street_2) NOT BETWEEN 10 AND 20 OR length(w_city) NOT BETWEEN 10 AND 20 OR w_state NOT SIMILAR TO '[A-Z][A-Z]' OR w_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT count(*) FROM district WHERE d_ytd <> 30000 OR d_next_o_id <> 3001 OR d_tax NOT BETWEEN 0 AND 0.2 OR length(d_name) NOT BETWEEN 6 AND 10 OR length(d_street_1) NOT BETWEEN 10 AND 20 OR length(d_street_2) NOT BETWEEN 10 AND 20 OR length(d_city) NOT BETWEEN 10 AND 20 OR d_state NOT SIMILAR TO '[A-Z][A-Z]' OR d_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT CASE WHEN min(s_quantity) <> 10 OR max(s_quantity) <> 100 OR (sum(s_quantity) - 55.0 * count(*)) * (sum(s_quantity) - 55.0 * count(*)) > 36 * 690.0 * count(*) OR max(s_ytd) <> 0 OR max(s_order_cnt) <> 0 OR max(s_remote_cnt) <> 0 OR min(s_ytd) <> 0 OR min(s_order_cnt) <> 0 OR min(s_remote_cnt) <> 0 OR min(length(s_data)) <> 26 OR max(length(s_data)) <> 50 OR min(length(s_dist_01)) <> 24 OR min(length(s_dist_02)) <> 24 OR min(length(s_dist_03)) <> 24 OR min(length(s_dist_04)) <> 24 OR min(length(s_dist_05)) <> 24 OR min(length(s_dist_06)) <> 24 OR min(length(s_dist_07)) <> 24 OR min(length(s_dist_08)) <> 24 OR min(length(s_dist_09)) <> 24 OR min(length(s_dist_10)) <> 24 OR (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) THEN 1 ELSE 0 END FROM stock;
SELECT count(*) FROM (SELECT c_w_id FROM customer GROUP BY c_w_id, c_d_id HAVING count(*) <> 3000 OR count(DISTINCT c_last) <> 1000 OR min(c_balance) <> -10 OR max(c_balance) <> -10 OR min(c_ytd_payment) <> 10 OR max(c_ytd_payment) <> 10 OR min(c_payment_cnt) <> 1 OR max(c_payment_cnt) <> 1 OR max(c_delivery_cnt) <> 0 OR min(c_discount) < 0 OR max(c_discount) > 0.5 OR min(c_credit_lim) <> 50000 OR max(c_credit_lim) <> 50000) d;
SELECT CASE WHEN (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR sum(CASE WHEN c_credit IN ('BC', 'GC') AND c_middle = 'OE' AND c_zip LIKE '____11111' AND c_state SIMILAR TO '[A-Z][A-Z]' AND length(c_phone) = 16 THEN 0 ELSE 1 END) <> 0 OR min(length(c_first)) <> 8 OR max(length(c_first)) <> 16 OR min(length(c_street_1)) <> 10 OR max(length(c_street_1)) <> 20 OR min(length(c_street_2)) <> 10 OR max(length(c_street_2)) <> 20 OR min(length(c_city)) <> 10 OR max(length(c_city)) <> 20 OR min(length(c_data)) <> 300 OR max(length(c_data)) <> 500 THEN 1 ELSE 0 END FROM customer;
SELECT CASE WHEN (max(n) - 52.257812 * (sum(n) / 3000)) * (max(n) - 52.257812 * (sum(n) / 3000)) > 36 * 49.944131 * (sum(n) / 3000) THEN 1 ELSE 0 END FROM (SELECT c_last, count(*) AS n FROM customer GROUP BY c_last) names;
SELECT count(*) FROM (SELECT h_w_id FROM history GROUP BY h_w_id, h_d_id HAVING count(*) <> 3000 OR count(DISTINCT h_c_id) <> 3000 OR min(h_amount) <> 10 OR max(h_amount) <> 10 OR min(length(h_data)) < 12 OR max(length(h_data)) > 24 OR sum(CASE WHEN h_c_w_id <> h_w_id OR h_c_d_id <> h_d_id THEN 1 ELSE 0 END) <> 0) d;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING count(*) <> 900 OR min(no_o_id) <> 2101 OR max(no_o_id) <> 3000) d;
SELECT count(*) FROM (SELECT o_w_id FROM orders GROUP BY o_w_id, o_d_id HAVING count(*) <> 3000 OR count(DISTINCT o_c_id) <> 3000 OR min(o_c_id) <> 1 OR max(o_c_id) <> 3000 OR count(o_carrier_id) <> 2100 OR min(o_ol_cnt) <> 5 OR max(o_ol_cnt) <> 15 OR sum(o_ol_cnt) <> 30000 OR min(o_all_local) <> 1 OR min(o_carrier_id) <> 1 OR max(o_carrier_id) <> 10 OR sum(CASE WHEN o_c_id = o_id THEN 1 ELSE 0 END) > 20 OR max(CASE WHEN o_carrier_id IS NOT NULL THEN o_id END) <> 2100) d;
SELECT count(*) FROM order_line WHERE ol_supply_w_id <> ol_w_id OR ol_quantity <> 5 OR ol_i_id NOT BETWEEN 1 AND 100000 OR ol_number NOT BETWEEN 1 AND 15 OR (ol_o_id < 2101) <> (ol_delivery_d IS NOT NULL) OR (ol_o_id < 2101) <> (ol_amount = 0);
SELECT CASE WHEN (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) * (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) > 36 * 8333317.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END) OR (sum(ol_i_id) - 50000.5 * count(*)) * (sum(ol_i_id) - 50000.5 * count(*)) > 36 * 833333333.0 * count(*) OR min(length(ol_dist_info)) <> 24 THEN 1 ELSE 0 END FROM order_line;
SELECT CASE WHEN (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR min(length(i_data)) <> 26 OR max(length(i_data)) <> 50 OR min(length(i_name)) <> 14 OR max(length(i_name)) <> 24 OR min(i_price) < 1 OR max(i_price) > 100 OR min(i_im_id) < 1 OR max(i_im_id) > 10000 OR (sum(i_price) - 50.5 * count(*)) * (sum(i_price) - 50.5 * count(*)) > 36 * 817.0 * count(*) THEN 1 ELSE 0 END FROM item;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS ytd FROM district GROUP BY d_w_id) d ON d_w_id = w_id WHERE w_ytd IS DISTINCT FROM d.ytd) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last FROM new_order GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id WHERE d_next_o_id - 1 IS DISTINCT FROM o.last OR d_next_o_id - 1 <> coalesce(n.last, d_next_o_id - 1)) violations;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS lines FROM orders GROUP BY o_w_id, o_d_id) o FULL JOIN (SELECT ol_w_id, ol_d_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE o.lines IS DISTINCT FROM l.lines) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, o_id FROM orders WHERE o_carrier_id IS NULL) o FULL JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id WHERE o_w_id IS NULL OR no_w_id IS NULL) violations;
SELECT count(*) FROM (SELECT o_w_id FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_ol_cnt <> coalesce(l.lines, 0)) violations;
SELECT count(*) FROM (SELECT ol_w_id FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)) violations;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id) h ON h_w_id = w_id WHERE w_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id WHERE c_balance <> coalesce(d.amount, 0) - coalesce(p.amount, 0)) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS n, sum(CASE WHEN o_id > 2100 AND o_carrier_id IS NOT NULL THEN 1 ELSE 0 END) AS delivered FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS n FROM new_order GROUP BY no_w_id, no_d_id) q ON no_w_id = d_w_id AND no_d_id = d_id WHERE o.n - coalesce(q.n, 0) IS DISTINCT FROM 2100 + o.delivered) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_balance + c_ytd_payment <> coalesce(d.amount, 0)) violations;
SELECT count(*) FROM (SELECT s_i_id FROM stock LEFT JOIN (SELECT ol_supply_w_id, ol_i_id, sum(ol_quantity) AS ytd, count(*) AS orders, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line WHERE ol_o_id > 3000 GROUP BY ol_supply_w_id, ol_i_id) l ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id WHERE s_quantity NOT BETWEEN 10 AND 100 OR s_ytd <> coalesce(l.ytd, 0) OR s_order_cnt <> coalesce(l.orders, 0) OR s_remote_cnt <> coalesce(l.remote, 0)) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, count(*) AS deliveries FROM orders WHERE o_id > 2100 AND o_carrier_id IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_payment_cnt <> coalesce(p.payments, 0) OR c_ytd_payment <> coalesce(p.amount, 0) OR c_delivery_cnt <> coalesce(o.deliveries, 0)) violations;
SELECT count(*) FROM (SELECT coalesce(o_id, ol_o_id) FROM orders FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, min(ol_number) AS first, max(ol_number) AS last, count(*) AS n, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_id IS NULL OR l.n IS NULL OR l.first <> 1 OR l.last <> l.n OR (o_all_local = 1) <> (l.remote = 0)) violations;
SELECT count(*) FROM (SELECT ol_o_id FROM order_line JOIN item ON i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_amount <> ol_quantity * i_price UNION ALL SELECT ol_o_id FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_supply_w_id = ol_w_id AND ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END UNION ALL SELECT s_i_id FROM stock JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id, ol_d_id, ol_dist_info FROM order_line WHERE ol_o_id > 3000 AND ol_supply_w_id <> ol_w_id) l ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id WHERE ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END) violations;
SELECT (SELECT count(*) FROM (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c) - (SELECT count(*) FROM stock p JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c ON c.ol_supply_w_id = p.s_w_id AND c.ol_i_id = p.s_i_id);
SELECT count(*) FROM stock c LEFT JOIN item p ON c.s_i_id = p.i_id WHERE p.i_id IS NULL;
SELECT count(*) FROM stock c LEFT JOIN warehouse p ON c.s_w_id = p.w_id WHERE p.w_id IS NULL;
SELECT count(*) FROM new_order c LEFT JOIN orders p ON c.no_w_id = p.o_w_id AND c.no_d_id = p.o_d_id AND c.no_o_id = p.o_id WHERE p.o_w_id IS NULL;
SELECT count(*) FROM orders c LEFT JOIN customer p ON c.o_w_id = p.c_w_id AND c.o_d_id = p.c_d_id AND c.o_c_id = p.c_id WHERE p.c_w_id IS NULL;
SELECT (SELECT count(*) FROM (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c) - (SELECT count(*) FROM customer p JOIN (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c ON c.h_c_w_id = p.c_w_id AND c.h_c_d_id = p.c_d_id AND c.h_c_id = p.c_id);
SELECT count(*) FROM history c LEFT JOIN district p ON c.h_w_id = p.d_w_id AND c.h_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM customer c LEFT JOIN district p ON c.c_w_id = p.d_w_id AND c.c_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM district c LEFT JOIN warehouse p ON c.d_w_id = p.w_id WHERE p.w_id IS NULL;
DROP TABLE IF EXISTS pgdyno_load;


-- tpcc at scale 2 on Google AlloyDB (alloydb), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=tpcc …'); -- what is loaded, to be compared by --resume
DROP PROCEDURE IF EXISTS neword(int, int, int, int[], int[], int[], int, timestamptz, numeric, numeric, numeric, text, text, numeric, text[], numeric[], int[], text[], numeric[], boolean);
DROP FUNCTION IF EXISTS payment(int, int, int, int, int, text, numeric);
DROP FUNCTION IF EXISTS ostat(int, int, int, text);
DROP FUNCTION IF EXISTS delivery(int, int);
DROP FUNCTION IF EXISTS slev(int, int, int);
DROP TABLE IF EXISTS order_line, new_order, orders, history, customer, stock, district, warehouse, item, tpcc_parameters;

-- creating tables
CREATE TABLE item (i_id int NOT NULL, i_im_id int NOT NULL, i_name varchar(24) NOT NULL, i_price numeric(5,2) NOT NULL, i_data varchar(50) NOT NULL);
CREATE TABLE warehouse (w_id int NOT NULL, w_name varchar(10) NOT NULL, w_street_1 varchar(20) NOT NULL, w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, w_zip char(9) NOT NULL, w_tax numeric(4,4) NOT NULL, w_ytd numeric(16,2) NOT NULL) WITH (fillfactor=10);
CREATE TABLE district (d_id int NOT NULL, d_w_id int NOT NULL, d_name varchar(10) NOT NULL, d_street_1 varchar(20) NOT NULL, d_street_2 varchar(20) NOT NULL, d_city varchar(20) NOT NULL, d_state char(2) NOT NULL, d_zip char(9) NOT NULL, d_tax numeric(4,4) NOT NULL, d_ytd numeric(16,2) NOT NULL, d_next_o_id int NOT NULL) WITH (fillfactor=10);
CREATE TABLE stock (s_i_id int NOT NULL, s_w_id int NOT NULL, s_quantity int NOT NULL, s_dist_01 char(24) NOT NULL, s_dist_02 char(24) NOT NULL, s_dist_03 char(24) NOT NULL, s_dist_04 char(24) NOT NULL, s_dist_05 char(24) NOT NULL, s_dist_06 char(24) NOT NULL, s_dist_07 char(24) NOT NULL, s_dist_08 char(24) NOT NULL, s_dist_09 char(24) NOT NULL, s_dist_10 char(24) NOT NULL, s_ytd int NOT NULL, s_order_cnt int NOT NULL, s_remote_cnt int NOT NULL, s_data varchar(50) NOT NULL) WITH (fillfactor=90);
CREATE TABLE customer (c_id int NOT NULL, c_d_id int NOT NULL, c_w_id int NOT NULL, c_first varchar(16) NOT NULL, c_middle char(2) NOT NULL, c_last varchar(16) NOT NULL, c_street_1 varchar(20) NOT NULL, c_street_2 varchar(20) NOT NULL, c_city varchar(20) NOT NULL, c_state char(2) NOT NULL, c_zip char(9) NOT NULL, c_phone char(16) NOT NULL, c_since timestamptz NOT NULL, c_credit char(2) NOT NULL, c_credit_lim numeric(12,2) NOT NULL, c_discount numeric(4,4) NOT NULL, c_balance numeric(16,2) NOT NULL, c_ytd_payment numeric(16,2) NOT NULL, c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL, c_data varchar(500) NOT NULL) WITH (fillfactor=90);
CREATE TABLE history (h_c_id int NOT NULL, h_c_d_id int NOT NULL, h_c_w_id int NOT NULL, h_d_id int NOT NULL, h_w_id int NOT NULL, h_date timestamptz NOT NULL, h_amount numeric(6,2) NOT NULL, h_data varchar(24) NOT NULL);
CREATE TABLE orders (o_id int NOT NULL, o_d_id int NOT NULL, o_w_id int NOT NULL, o_c_id int NOT NULL, o_entry_d timestamptz NOT NULL, o_carrier_id int, o_ol_cnt int NOT NULL, o_all_local int NOT NULL);
CREATE TABLE new_order (no_o_id int NOT NULL, no_d_id int NOT NULL, no_w_id int NOT NULL);
CREATE TABLE order_line (ol_o_id int NOT NULL, ol_d_id int NOT NULL, ol_w_id int NOT NULL, ol_number int NOT NULL, ol_i_id int NOT NULL, ol_supply_w_id int NOT NULL, ol_delivery_d timestamptz, ol_quantity int NOT NULL, ol_amount numeric(6,2) NOT NULL, ol_dist_info char(24) NOT NULL);
CREATE TABLE tpcc_parameters (name varchar(32) NOT NULL, value varchar(64) NOT NULL);
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY item (i_id, i_im_id, i_name, i_price, i_data) FROM STDIN; -- 5 times; 100000 rows, 20971 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 5);
COPY warehouse (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 6);
COPY district (d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, d_next_o_id) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 7);
COPY stock (s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data) FROM STDIN; -- 33 times; 200000 rows, 6241 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 40);
COPY customer (c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data) FROM STDIN; -- 21 times; 60000 rows, 2912 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 61);
COPY history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) FROM STDIN; -- 3 times; 60000 rows, 21845 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 64);
COPY orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) FROM STDIN; -- 2 times; 60000 rows, 32768 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 66);
COPY new_order (no_o_id, no_d_id, no_w_id) FROM STDIN; -- 18000 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 67);
COPY order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) FROM STDIN; -- 29 times; 600000 rows, 20971 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 96);
COPY tpcc_parameters (name, value) FROM STDIN; -- 6 rows; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE order_line ADD PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
ALTER TABLE stock ADD PRIMARY KEY (s_w_id, s_i_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
ALTER TABLE customer ADD PRIMARY KEY (c_w_id, c_d_id, c_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 3);
CREATE UNIQUE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 4);
ALTER TABLE orders ADD PRIMARY KEY (o_w_id, o_d_id, o_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 5);
CREATE UNIQUE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 6);
ALTER TABLE new_order ADD PRIMARY KEY (no_w_id, no_d_id, no_o_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 7);
ALTER TABLE item ADD PRIMARY KEY (i_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 8);
ALTER TABLE district ADD PRIMARY KEY (d_w_id, d_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 9);
ALTER TABLE warehouse ADD PRIMARY KEY (w_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 10);
ALTER TABLE tpcc_parameters ADD PRIMARY KEY (name);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) order_line;
VACUUM (ANALYZE) stock;
VACUUM (ANALYZE) customer;
VACUUM (ANALYZE) orders;
VACUUM (ANALYZE) history;
VACUUM (ANALYZE) item;
VACUUM (ANALYZE) new_order;
VACUUM (ANALYZE) district;
VACUUM (ANALYZE) warehouse;
VACUUM (ANALYZE) tpcc_parameters;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(i_id), 0) AS keys FROM item;
SELECT count(*) AS rows, coalesce(sum(w_id), 0) AS keys FROM warehouse;
SELECT count(*) AS rows, coalesce(sum((d_w_id::bigint - 1) * 10 + d_id), 0) AS keys FROM district;
SELECT count(*) AS rows, coalesce(sum((s_w_id::bigint - 1) * 100000 + s_i_id), 0) AS keys FROM stock;
SELECT count(*) AS rows, coalesce(sum(((c_w_id::bigint - 1) * 10 + c_d_id - 1) * 3000 + c_id), 0) AS keys FROM customer;
SELECT count(*) AS rows, coalesce(sum(((h_c_w_id::bigint - 1) * 10 + h_c_d_id - 1) * 3000 + h_c_id), 0) AS keys FROM history;
SELECT count(*) AS rows, coalesce(sum(((o_w_id::bigint - 1) * 10 + o_d_id - 1) * 3000 + o_id), 0) AS keys FROM orders;
SELECT count(*) AS rows, coalesce(sum(((no_w_id::bigint - 1) * 10 + no_d_id - 1) * 900 + no_o_id - 2100), 0) AS keys FROM new_order;
SELECT count(*) AS rows, coalesce(sum((ol_w_id::bigint - 1) * 10 + ol_d_id), 0) AS keys FROM order_line;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM tpcc_parameters;
SELECT count(*) FROM warehouse WHERE w_ytd <> 300000 OR w_tax NOT BETWEEN 0 AND 0.2 OR length(w_name) NOT BETWEEN 6 AND 10 OR length(w_street_1) NOT BETWEEN 10 AND 20 OR length(w_street_2) NOT BETWEEN 10 AND 20 OR length(w_city) NOT BETWEEN 10 AND 20 OR w_state NOT SIMILAR TO '[A-Z][A-Z]' OR w_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT count(*) FROM district WHERE d_ytd <> 30000 OR d_next_o_id <> 3001 OR d_tax NOT BETWEEN 0 AND 0.2 OR length(d_name) NOT BETWEEN 6 AND 10 OR length(d_street_1) NOT BETWEEN 10 AND 20 OR length(d_street_2) NOT BETWEEN 10 AND 20 OR length(d_city) NOT BETWEEN 10 AND 20 OR d_state NOT SIMILAR TO '[A-Z][A-Z]' OR d_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT CASE WHEN min(s_quantity) <> 10 OR max(s_quantity) <> 100 OR (sum(s_quantity) - 55.0 * count(*)) * (sum(s_quantity) - 55.0 * count(*)) > 36 * 690.0 * count(*) OR max(s_ytd) <> 0 OR max(s_order_cnt) <> 0 OR max(s_remote_cnt) <> 0 OR min(s_ytd) <> 0 OR min(s_order_cnt) <> 0 OR min(s_remote_cnt) <> 0 OR min(length(s_data)) <> 26 OR max(length(s_data)) <> 50 OR min(length(s_dist_01)) <> 24 OR min(length(s_dist_02)) <> 24 OR min(length(s_dist_03)) <> 24 OR min(length(s_dist_04)) <> 24 OR min(length(s_dist_05)) <> 24 OR min(length(s_dist_06)) <> 24 OR min(length(s_dist_07)) <> 24 OR min(length(s_dist_08)) <> 24 OR min(length(s_dist_09)) <> 24 OR min(length(s_dist_10)) <> 24 OR (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) THEN 1 ELSE 0 END FROM stock;
SELECT count(*) FROM (SELECT c_w_id FROM customer GROUP BY c_w_id, c_d_id HAVING count(*) <> 3000 OR count(DISTINCT c_last) <> 1000 OR min(c_balance) <> -10 OR max(c_balance) <> -10 OR min(c_ytd_payment) <> 10 OR max(c_ytd_payment) <> 10 OR min(c_payment_cnt) <> 1 OR max(c_payment_cnt) <> 1 OR max(c_delivery_cnt) <> 0 OR min(c_discount) < 0 OR max(c_discount) > 0.5 OR min(c_credit_lim) <> 50000 OR max(c_credit_lim) <> 50000) d;
SELECT CASE WHEN (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR sum(CASE WHEN c_credit IN ('BC', 'GC') AND c_middle = 'OE' AND c_zip LIKE '____11111' AND c_state SIMILAR TO '[A-Z][A-Z]' AND length(c_phone) = 16 THEN 0 ELSE 1 END) <> 0 OR min(length(c_first)) <> 8 OR max(length(c_first)) <> 16 OR min(length(c_street_1)) <> 10 OR max(length(c_street_1)) <> 20 OR min(length(c_street_2)) <> 10 OR max(length(c_street_2)) <> 20 OR min(length(c_city)) <> 10 OR max(length(c_city)) <> 20 OR min(length(c_data)) <> 300 OR max(length(c_data)) <> 500 THEN 1 ELSE 0 END FROM customer;
SELECT CASE WHEN (max(n) - 52.257812 * (sum(n) / 3000)) * (max(n) - 52.257812 * (sum(n) / 3000)) > 36 * 49.944131 * (sum(n) / 3000) THEN 1 ELSE 0 END FROM (SELECT c_last, count(*) AS n FROM customer GROUP BY c_last) names;
SELECT count(*) FROM (SELECT h_w_id FROM history GROUP BY h_w_id, h_d_id HAVING count(*) <> 3000 OR count(DISTINCT h_c_id) <> 3000 OR min(h_amount) <> 10 OR max(h_amount) <> 10 OR min(length(h_data)) < 12 OR max(length(h_data)) > 24 OR sum(CASE WHEN h_c_w_id <> h_w_id OR h_c_d_id <> h_d_id THEN 1 ELSE 0 END) <> 0) d;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING count(*) <> 900 OR min(no_o_id) <> 2101 OR max(no_o_id) <> 3000) d;
SELECT count(*) FROM (SELECT o_w_id FROM orders GROUP BY o_w_id, o_d_id HAVING count(*) <> 3000 OR count(DISTINCT o_c_id) <> 3000 OR min(o_c_id) <> 1 OR max(o_c_id) <> 3000 OR count(o_carrier_id) <> 2100 OR min(o_ol_cnt) <> 5 OR max(o_ol_cnt) <> 15 OR sum(o_ol_cnt) <> 30000 OR min(o_all_local) <> 1 OR min(o_carrier_id) <> 1 OR max(o_carrier_id) <> 10 OR sum(CASE WHEN o_c_id = o_id THEN 1 ELSE 0 END) > 20 OR max(CASE WHEN o_carrier_id IS NOT NULL THEN o_id END) <> 2100) d;
SELECT count(*) FROM order_line WHERE ol_supply_w_id <> ol_w_id OR ol_quantity <> 5 OR ol_i_id NOT BETWEEN 1 AND 100000 OR ol_number NOT BETWEEN 1 AND 15 OR (ol_o_id < 2101) <> (ol_delivery_d IS NOT NULL) OR (ol_o_id < 2101) <> (ol_amount = 0);
SELECT CASE WHEN (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) * (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) > 36 * 8333317.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END) OR (sum(ol_i_id) - 50000.5 * count(*)) * (sum(ol_i_id) - 50000.5 * count(*)) > 36 * 833333333.0 * count(*) OR min(length(ol_dist_info)) <> 24 THEN 1 ELSE 0 END FROM order_line;
SELECT CASE WHEN (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR min(length(i_data)) <> 26 OR max(length(i_data)) <> 50 OR min(length(i_name)) <> 14 OR max(length(i_name)) <> 24 OR min(i_price) < 1 OR max(i_price) > 100 OR min(i_im_id) < 1 OR max(i_im_id) > 10000 OR (sum(i_price) - 50.5 * count(*)) * (sum(i_price) - 50.5 * count(*)) > 36 * 817.0 * count(*) THEN 1 ELSE 0 END FROM item;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS ytd FROM district GROUP BY d_w_id) d ON d_w_id = w_id WHERE w_ytd IS DISTINCT FROM d.ytd) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last FROM new_order GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id WHERE d_next_o_id - 1 IS DISTINCT FROM o.last OR d_next_o_id - 1 <> coalesce(n.last, d_next_o_id - 1)) violations;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS lines FROM orders GROUP BY o_w_id, o_d_id) o FULL JOIN (SELECT ol_w_id, ol_d_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE o.lines IS DISTINCT FROM l.lines) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, o_id FROM orders WHERE o_carrier_id IS NULL) o FULL JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id WHERE o_w_id IS NULL OR no_w_id IS NULL) violations;
SELECT count(*) FROM (SELECT o_w_id FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_ol_cnt <> coalesce(l.lines, 0)) violations;
SELECT count(*) FROM (SELECT ol_w_id FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)) violations;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id) h ON h_w_id = w_id WHERE w_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id WHERE c_balance <> coalesce(d.amount, 0) - coalesce(p.amount, 0)) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS n, sum(CASE WHEN o_id > 2100 AND o_carrier_id IS NOT NULL THEN 1 ELSE 0 END) AS delivered FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS n FROM new_order GROUP BY no_w_id, no_d_id) q ON no_w_id = d_w_id AND no_d_id = d_id WHERE o.n - coalesce(q.n, 0) IS DISTINCT FROM 2100 + o.delivered) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_balance + c_ytd_payment <> coalesce(d.amount, 0)) violations;
SELECT count(*) FROM (SELECT s_i_id FROM stock LEFT JOIN (SELECT ol_supply_w_id, ol_i_id, sum(ol_quantity) AS ytd, count(*) AS orders, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line WHERE ol_o_id > 3000 GROUP BY ol_supply_w_id, ol_i_id) l ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id WHERE s_quantity NOT BETWEEN 10 AND 100 OR s_ytd <> coalesce(l.ytd, 0) OR s_order_cnt <> coalesce(l.orders, 0) OR s_remote_cnt <> coalesce(l.remote, 0)) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, count(*) AS deliveries FROM orders WHERE o_id > 2100 AND o_carrier_id IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_payment_cnt <> coalesce(p.payments, 0) OR c_ytd_payment <> coalesce(p.amount, 0) OR c_delivery_cnt <> coalesce(o.deliveries, 0)) violations;
SELECT count(*) FROM (SELECT coalesce(o_id, ol_o_id) FROM orders FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, min(ol_number) AS first, max(ol_number) AS last, count(*) AS n, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_id IS NULL OR l.n IS NULL OR l.first <> 1 OR l.last <> l.n OR (o_all_local = 1) <> (l.remote = 0)) violations;
SELECT count(*) FROM (SELECT ol_o_id FROM order_line JOIN item ON i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_amount <> ol_quantity * i_price UNION ALL SELECT ol_o_id FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_supply_w_id = ol_w_id AND ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END UNION ALL SELECT s_i_id FROM stock JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id, ol_d_id, ol_dist_info FROM order_line WHERE ol_o_id > 3000 AND ol_supply_w_id <> ol_w_id) l ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id WHERE ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END) violations;
SELECT (SELECT count(*) FROM (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c) - (SELECT count(*) FROM stock p JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c ON c.ol_supply_w_id = p.s_w_id AND c.ol_i_id = p.s_i_id);
SELECT count(*) FROM stock c LEFT JOIN item p ON c.s_i_id = p.i_id WHERE p.i_id IS NULL;
SELECT count(*) FROM stock c LEFT JOIN warehouse p ON c.s_w_id = p.w_id WHERE p.w_id IS NULL;
SELECT count(*) FROM new_order c LEFT JOIN orders p ON c.no_w_id = p.o_w_id AND c.no_d_id = p.o_d_id AND c.no_o_id = p.o_id WHERE p.o_w_id IS NULL;
SELECT count(*) FROM orders c LEFT JOIN customer p ON c.o_w_id = p.c_w_id AND c.o_d_id = p.c_d_id AND c.o_c_id = p.c_id WHERE p.c_w_id IS NULL;
SELECT (SELECT count(*) FROM (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c) - (SELECT count(*) FROM customer p JOIN (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c ON c.h_c_w_id = p.c_w_id AND c.h_c_d_id = p.c_d_id AND c.h_c_id = p.c_id);
SELECT count(*) FROM history c LEFT JOIN district p ON c.h_w_id = p.d_w_id AND c.h_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM customer c LEFT JOIN district p ON c.c_w_id = p.d_w_id AND c.c_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM district c LEFT JOIN warehouse p ON c.d_w_id = p.w_id WHERE p.w_id IS NULL;
DROP TABLE IF EXISTS pgdyno_load;


-- tpcc at scale 2 on Google Cloud SQL for PostgreSQL (cloudsql), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=tpcc …'); -- what is loaded, to be compared by --resume
DROP PROCEDURE IF EXISTS neword(int, int, int, int[], int[], int[], int, timestamptz, numeric, numeric, numeric, text, text, numeric, text[], numeric[], int[], text[], numeric[], boolean);
DROP FUNCTION IF EXISTS payment(int, int, int, int, int, text, numeric);
DROP FUNCTION IF EXISTS ostat(int, int, int, text);
DROP FUNCTION IF EXISTS delivery(int, int);
DROP FUNCTION IF EXISTS slev(int, int, int);
DROP TABLE IF EXISTS order_line, new_order, orders, history, customer, stock, district, warehouse, item, tpcc_parameters;

-- creating tables
CREATE TABLE item (i_id int NOT NULL, i_im_id int NOT NULL, i_name varchar(24) NOT NULL, i_price numeric(5,2) NOT NULL, i_data varchar(50) NOT NULL);
CREATE TABLE warehouse (w_id int NOT NULL, w_name varchar(10) NOT NULL, w_street_1 varchar(20) NOT NULL, w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, w_zip char(9) NOT NULL, w_tax numeric(4,4) NOT NULL, w_ytd numeric(16,2) NOT NULL) WITH (fillfactor=10);
CREATE TABLE district (d_id int NOT NULL, d_w_id int NOT NULL, d_name varchar(10) NOT NULL, d_street_1 varchar(20) NOT NULL, d_street_2 varchar(20) NOT NULL, d_city varchar(20) NOT NULL, d_state char(2) NOT NULL, d_zip char(9) NOT NULL, d_tax numeric(4,4) NOT NULL, d_ytd numeric(16,2) NOT NULL, d_next_o_id int NOT NULL) WITH (fillfactor=10);
CREATE TABLE stock (s_i_id int NOT NULL, s_w_id int NOT NULL, s_quantity int NOT NULL, s_dist_01 char(24) NOT NULL, s_dist_02 char(24) NOT NULL, s_dist_03 char(24) NOT NULL, s_dist_04 char(24) NOT NULL, s_dist_05 char(24) NOT NULL, s_dist_06 char(24) NOT NULL, s_dist_07 char(24) NOT NULL, s_dist_08 char(24) NOT NULL, s_dist_09 char(24) NOT NULL, s_dist_10 char(24) NOT NULL, s_ytd int NOT NULL, s_order_cnt int NOT NULL, s_remote_cnt int NOT NULL, s_data varchar(50) NOT NULL) WITH (fillfactor=90);
CREATE TABLE customer (c_id int NOT NULL, c_d_id int NOT NULL, c_w_id int NOT NULL, c_first varchar(16) NOT NULL, c_middle char(2) NOT NULL, c_last varchar(16) NOT NULL, c_street_1 varchar(20) NOT NULL, c_street_2 varchar(20) NOT NULL, c_city varchar(20) NOT NULL, c_state char(2) NOT NULL, c_zip char(9) NOT NULL, c_phone char(16) NOT NULL, c_since timestamptz NOT NULL, c_credit char(2) NOT NULL, c_credit_lim numeric(12,2) NOT NULL, c_discount numeric(4,4) NOT NULL, c_balance numeric(16,2) NOT NULL, c_ytd_payment numeric(16,2) NOT NULL, c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL, c_data varchar(500) NOT NULL) WITH (fillfactor=90);
CREATE TABLE history (h_c_id int NOT NULL, h_c_d_id int NOT NULL, h_c_w_id int NOT NULL, h_d_id int NOT NULL, h_w_id int NOT NULL, h_date timestamptz NOT NULL, h_amount numeric(6,2) NOT NULL, h_data varchar(24) NOT NULL);
CREATE TABLE orders (o_id int NOT NULL, o_d_id int NOT NULL, o_w_id int NOT NULL, o_c_id int NOT NULL, o_entry_d timestamptz NOT NULL, o_carrier_id int, o_ol_cnt int NOT NULL, o_all_local int NOT NULL);
CREATE TABLE new_order (no_o_id int NOT NULL, no_d_id int NOT NULL, no_w_id int NOT NULL);
CREATE TABLE order_line (ol_o_id int NOT NULL, ol_d_id int NOT NULL, ol_w_id int NOT NULL, ol_number int NOT NULL, ol_i_id int NOT NULL, ol_supply_w_id int NOT NULL, ol_delivery_d timestamptz, ol_quantity int NOT NULL, ol_amount numeric(6,2) NOT NULL, ol_dist_info char(24) NOT NULL);
CREATE TABLE tpcc_parameters (name varchar(32) NOT NULL, value varchar(64) NOT NULL);
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY item (i_id, i_im_id, i_name, i_price, i_data) FROM STDIN; -- 5 times; 100000 rows, 20971 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 5);
COPY warehouse (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 6);
COPY district (d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, d_next_o_id) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 7);
COPY stock (s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data) FROM STDIN; -- 33 times; 200000 rows, 6241 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 40);
COPY customer (c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data) FROM STDIN; -- 21 times; 60000 rows, 2912 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 61);
COPY history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) FROM STDIN; -- 3 times; 60000 rows, 21845 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 64);
COPY orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) FROM STDIN; -- 2 times; 60000 rows, 32768 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 66);
COPY new_order (no_o_id, no_d_id, no_w_id) FROM STDIN; -- 18000 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 67);
COPY order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) FROM STDIN; -- 29 times; 600000 rows, 20971 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 96);
COPY tpcc_parameters (name, value) FROM STDIN; -- 6 rows; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE order_line ADD PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
ALTER TABLE stock ADD PRIMARY KEY (s_w_id, s_i_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
ALTER TABLE customer ADD PRIMARY KEY (c_w_id, c_d_id, c_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 3);
CREATE UNIQUE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 4);
ALTER TABLE orders ADD PRIMARY KEY (o_w_id, o_d_id, o_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 5);
CREATE UNIQUE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 6);
ALTER TABLE new_order ADD PRIMARY KEY (no_w_id, no_d_id, no_o_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 7);
ALTER TABLE item ADD PRIMARY KEY (i_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 8);
ALTER TABLE district ADD PRIMARY KEY (d_w_id, d_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 9);
ALTER TABLE warehouse ADD PRIMARY KEY (w_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 10);
ALTER TABLE tpcc_parameters ADD PRIMARY KEY (name);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) order_line;
VACUUM (ANALYZE) stock;
VACUUM (ANALYZE) customer;
VACUUM (ANALYZE) orders;
VACUUM (ANALYZE) history;
VACUUM (ANALYZE) item;
VACUUM (ANALYZE) new_order;
VACUUM (ANALYZE) district;
VACUUM (ANALYZE) warehouse;
VACUUM (ANALYZE) tpcc_parameters;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(i_id), 0) AS keys FROM item;
SELECT count(*) AS rows, coalesce(sum(w_id), 0) AS keys FROM warehouse;
SELECT count(*) AS rows, coalesce(sum((d_w_id::bigint - 1) * 10 + d_id), 0) AS keys FROM district;
SELECT count(*) AS rows, coalesce(sum((s_w_id::bigint - 1) * 100000 + s_i_id), 0) AS keys FROM stock;
SELECT count(*) AS rows, coalesce(sum(((c_w_id::bigint - 1) * 10 + c_d_id - 1) * 3000 + c_id), 0) AS keys FROM customer;
SELECT count(*) AS rows, coalesce(sum(((h_c_w_id::bigint - 1) * 10 + h_c_d_id - 1) * 3000 + h_c_id), 0) AS keys FROM history;
SELECT count(*) AS rows, coalesce(sum(((o_w_id::bigint - 1) * 10 + o_d_id - 1) * 3000 + o_id), 0) AS keys FROM orders;
SELECT count(*) AS rows, coalesce(sum(((no_w_id::bigint - 1) * 10 + no_d_id - 1) * 900 + no_o_id - 2100), 0) AS keys FROM new_order;
SELECT count(*) AS rows, coalesce(sum((ol_w_id::bigint - 1) * 10 + ol_d_id), 0) AS keys FROM order_line;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM tpcc_parameters;
SELECT count(*) FROM warehouse WHERE w_ytd <> 300000 OR w_tax NOT BETWEEN 0 AND 0.2 OR length(w_name) NOT BETWEEN 6 AND 10 OR length(w_street_1) NOT BETWEEN 10 AND 20 OR length(w_street_2) NOT BETWEEN 10 AND 20 OR length(w_city) NOT BETWEEN 10 AND 20 OR w_state NOT SIMILAR TO '[A-Z][A-Z]' OR w_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT count(*) FROM district WHERE d_ytd <> 30000 OR d_next_o_id <> 3001 OR d_tax NOT BETWEEN 0 AND 0.2 OR length(d_name) NOT BETWEEN 6 AND 10 OR length(d_street_1) NOT BETWEEN 10 AND 20 OR length(d_street_2) NOT BETWEEN 10 AND 20 OR length(d_city) NOT BETWEEN 10 AND 20 OR d_state NOT SIMILAR TO '[A-Z][A-Z]' OR d_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT CASE WHEN min(s_quantity) <> 10 OR max(s_quantity) <> 100 OR (sum(s_quantity) - 55.0 * count(*)) * (sum(s_quantity) - 55.0 * count(*)) > 36 * 690.0 * count(*) OR max(s_ytd) <> 0 OR max(s_order_cnt) <> 0 OR max(s_remote_cnt) <> 0 OR min(s_ytd) <> 0 OR min(s_order_cnt) <> 0 OR min(s_remote_cnt) <> 0 OR min(length(s_data)) <> 26 OR max(length(s_data)) <> 50 OR min(length(s_dist_01)) <> 24 OR min(length(s_dist_02)) <> 24 OR min(length(s_dist_03)) <> 24 OR min(length(s_dist_04)) <> 24 OR min(length(s_dist_05)) <> 24 OR min(length(s_dist_06)) <> 24 OR min(length(s_dist_07)) <> 24 OR min(length(s_dist_08)) <> 24 OR min(length(s_dist_09)) <> 24 OR min(length(s_dist_10)) <> 24 OR (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) THEN 1 ELSE 0 END FROM stock;
SELECT count(*) FROM (SELECT c_w_id FROM customer GROUP BY c_w_id, c_d_id HAVING count(*) <> 3000 OR count(DISTINCT c_last) <> 1000 OR min(c_balance) <> -10 OR max(c_balance) <> -10 OR min(c_ytd_payment) <> 10 OR max(c_ytd_payment) <> 10 OR min(c_payment_cnt) <> 1 OR max(c_payment_cnt) <> 1 OR max(c_delivery_cnt) <> 0 OR min(c_discount) < 0 OR max(c_discount) > 0.5 OR min(c_credit_lim) <> 50000 OR max(c_credit_lim) <> 50000) d;
SELECT CASE WHEN (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR sum(CASE WHEN c_credit IN ('BC', 'GC') AND c_middle = 'OE' AND c_zip LIKE '____11111' AND c_state SIMILAR TO '[A-Z][A-Z]' AND length(c_phone) = 16 THEN 0 ELSE 1 END) <> 0 OR min(length(c_first)) <> 8 OR max(length(c_first)) <> 16 OR min(length(c_street_1)) <> 10 OR max(length(c_street_1)) <> 20 OR min(length(c_street_2)) <> 10 OR max(length(c_street_2)) <> 20 OR min(length(c_city)) <> 10 OR max(length(c_city)) <> 20 OR min(length(c_data)) <> 300 OR max(length(c_data)) <> 500 THEN 1 ELSE 0 END FROM customer;
SELECT CASE WHEN (max(n) - 52.257812 * (sum(n) / 3000)) * (max(n) - 52.257812 * (sum(n) / 3000)) > 36 * 49.944131 * (sum(n) / 3000) THEN 1 ELSE 0 END FROM (SELECT c_last, count(*) AS n FROM customer GROUP BY c_last) names;
SELECT count(*) FROM (SELECT h_w_id FROM history GROUP BY h_w_id, h_d_id HAVING count(*) <> 3000 OR count(DISTINCT h_c_id) <> 3000 OR min(h_amount) <> 10 OR max(h_amount) <> 10 OR min(length(h_data)) < 12 OR max(length(h_data)) > 24 OR sum(CASE WHEN h_c_w_id <> h_w_id OR h_c_d_id <> h_d_id THEN 1 ELSE 0 END) <> 0) d;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING count(*) <> 900 OR min(no_o_id) <> 2101 OR max(no_o_id) <> 3000) d;
SELECT count(*) FROM (SELECT o_w_id FROM orders GROUP BY o_w_id, o_d_id HAVING count(*) <> 3000 OR count(DISTINCT o_c_id) <> 3000 OR min(o_c_id) <> 1 OR max(o_c_id) <> 3000 OR count(o_carrier_id) <> 2100 OR min(o_ol_cnt) <> 5 OR max(o_ol_cnt) <> 15 OR sum(o_ol_cnt) <> 30000 OR min(o_all_local) <> 1 OR min(o_carrier_id) <> 1 OR max(o_carrier_id) <> 10 OR sum(CASE WHEN o_c_id = o_id THEN 1 ELSE 0 END) > 20 OR max(CASE WHEN o_carrier_id IS NOT NULL THEN o_id END) <> 2100) d;
SELECT count(*) FROM order_line WHERE ol_supply_w_id <> ol_w_id OR ol_quantity <> 5 OR ol_i_id NOT BETWEEN 1 AND 100000 OR ol_number NOT BETWEEN 1 AND 15 OR (ol_o_id < 2101) <> (ol_delivery_d IS NOT NULL) OR (ol_o_id < 2101) <> (ol_amount = 0);
SELECT CASE WHEN (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) * (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) > 36 * 8333317.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END) OR (sum(ol_i_id) - 50000.5 * count(*)) * (sum(ol_i_id) - 50000.5 * count(*)) > 36 * 833333333.0 * count(*) OR min(length(ol_dist_info)) <> 24 THEN 1 ELSE 0 END FROM order_line;
SELECT CASE WHEN (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR min(length(i_data)) <> 26 OR max(length(i_data)) <> 50 OR min(length(i_name)) <> 14 OR max(length(i_name)) <> 24 OR min(i_price) < 1 OR max(i_price) > 100 OR min(i_im_id) < 1 OR max(i_im_id) > 10000 OR (sum(i_price) - 50.5 * count(*)) * (sum(i_price) - 50.5 * count(*)) > 36 * 817.0 * count(*) THEN 1 ELSE 0 END FROM item;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS ytd FROM district GROUP BY d_w_id) d ON d_w_id = w_id WHERE w_ytd IS DISTINCT FROM d.ytd) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last FROM new_order GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id WHERE d_next_o_id - 1 IS DISTINCT FROM o.last OR d_next_o_id - 1 <> coalesce(n.last, d_next_o_id - 1)) violations;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS lines FROM orders GROUP BY o_w_id, o_d_id) o FULL JOIN (SELECT ol_w_id, ol_d_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE o.lines IS DISTINCT FROM l.lines) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, o_id FROM orders WHERE o_carrier_id IS NULL) o FULL JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id WHERE o_w_id IS NULL OR no_w_id IS NULL) violations;
SELECT count(*) FROM (SELECT o_w_id FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_ol_cnt <> coalesce(l.lines, 0)) violations;
SELECT count(*) FROM (SELECT ol_w_id FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)) violations;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id) h ON h_w_id = w_id WHERE w_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id WHERE c_balance <> coalesce(d.amount, 0) - coalesce(p.amount, 0)) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS n, sum(CASE WHEN o_id > 2100 AND o_carrier_id IS NOT NULL THEN 1 ELSE 0 END) AS delivered FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS n FROM new_order GROUP BY no_w_id, no_d_id) q ON no_w_id = d_w_id AND no_d_id = d_id WHERE o.n - coalesce(q.n, 0) IS DISTINCT FROM 2100 + o.delivered) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_balance + c_ytd_payment <> coalesce(d.amount, 0)) violations;
SELECT count(*) FROM (SELECT s_i_id FROM stock LEFT JOIN (SELECT ol_supply_w_id, ol_i_id, sum(ol_quantity) AS ytd, count(*) AS orders, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line WHERE ol_o_id > 3000 GROUP BY ol_supply_w_id, ol_i_id) l ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id WHERE s_quantity NOT BETWEEN 10 AND 100 OR s_ytd <> coalesce(l.ytd, 0) OR s_order_cnt <> coalesce(l.orders, 0) OR s_remote_cnt <> coalesce(l.remote, 0)) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, count(*) AS deliveries FROM orders WHERE o_id > 2100 AND o_carrier_id IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_payment_cnt <> coalesce(p.payments, 0) OR c_ytd_payment <> coalesce(p.amount, 0) OR c_delivery_cnt <> coalesce(o.deliveries, 0)) violations;
SELECT count(*) FROM (SELECT coalesce(o_id, ol_o_id) FROM orders FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, min(ol_number) AS first, max(ol_number) AS last, count(*) AS n, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_id IS NULL OR l.n IS NULL OR l.first <> 1 OR l.last <> l.n OR (o_all_local = 1) <> (l.remote = 0)) violations;
SELECT count(*) FROM (SELECT ol_o_id FROM order_line JOIN item ON i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_amount <> ol_quantity * i_price UNION ALL SELECT ol_o_id FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_supply_w_id = ol_w_id AND ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END UNION ALL SELECT s_i_id FROM stock JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id, ol_d_id, ol_dist_info FROM order_line WHERE ol_o_id > 3000 AND ol_supply_w_id <> ol_w_id) l ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id WHERE ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END) violations;
SELECT (SELECT count(*) FROM (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c) - (SELECT count(*) FROM stock p JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c ON c.ol_supply_w_id = p.s_w_id AND c.ol_i_id = p.s_i_id);
SELECT count(*) FROM stock c LEFT JOIN item p ON c.s_i_id = p.i_id WHERE p.i_id IS NULL;
SELECT count(*) FROM stock c LEFT JOIN warehouse p ON c.s_w_id = p.w_id WHERE p.w_id IS NULL;
SELECT count(*) FROM new_order c LEFT JOIN orders p ON c.no_w_id = p.o_w_id AND c.no_d_id = p.o_d_id AND c.no_o_id = p.o_id WHERE p.o_w_id IS NULL;
SELECT count(*) FROM orders c LEFT JOIN customer p ON c.o_w_id = p.c_w_id AND c.o_d_id = p.c_d_id AND c.o_c_id = p.c_id WHERE p.c_w_id IS NULL;
SELECT (SELECT count(*) FROM (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c) - (SELECT count(*) FROM customer p JOIN (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c ON c.h_c_w_id = p.c_w_id AND c.h_c_d_id = p.c_d_id AND c.h_c_id = p.c_id);
SELECT count(*) FROM history c LEFT JOIN district p ON c.h_w_id = p.d_w_id AND c.h_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM customer c LEFT JOIN district p ON c.c_w_id = p.d_w_id AND c.c_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM district c LEFT JOIN warehouse p ON c.d_w_id = p.w_id WHERE p.w_id IS NULL;
DROP TABLE IF EXISTS pgdyno_load;


-- tpcc at scale 2 on Amazon Aurora PostgreSQL (aurora-postgres), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=tpcc …'); -- what is loaded, to be compared by --resume
DROP PROCEDURE IF EXISTS neword(int, int, int, int[], int[], int[], int, timestamptz, numeric, numeric, numeric, text, text, numeric, text[], numeric[], int[], text[], numeric[], boolean);
DROP FUNCTION IF EXISTS payment(int, int, int, int, int, text, numeric);
DROP FUNCTION IF EXISTS ostat(int, int, int, text);
DROP FUNCTION IF EXISTS delivery(int, int);
DROP FUNCTION IF EXISTS slev(int, int, int);
DROP TABLE IF EXISTS order_line, new_order, orders, history, customer, stock, district, warehouse, item, tpcc_parameters;

-- creating tables
CREATE TABLE item (i_id int NOT NULL, i_im_id int NOT NULL, i_name varchar(24) NOT NULL, i_price numeric(5,2) NOT NULL, i_data varchar(50) NOT NULL);
CREATE TABLE warehouse (w_id int NOT NULL, w_name varchar(10) NOT NULL, w_street_1 varchar(20) NOT NULL, w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, w_zip char(9) NOT NULL, w_tax numeric(4,4) NOT NULL, w_ytd numeric(16,2) NOT NULL) WITH (fillfactor=10);
CREATE TABLE district (d_id int NOT NULL, d_w_id int NOT NULL, d_name varchar(10) NOT NULL, d_street_1 varchar(20) NOT NULL, d_street_2 varchar(20) NOT NULL, d_city varchar(20) NOT NULL, d_state char(2) NOT NULL, d_zip char(9) NOT NULL, d_tax numeric(4,4) NOT NULL, d_ytd numeric(16,2) NOT NULL, d_next_o_id int NOT NULL) WITH (fillfactor=10);
CREATE TABLE stock (s_i_id int NOT NULL, s_w_id int NOT NULL, s_quantity int NOT NULL, s_dist_01 char(24) NOT NULL, s_dist_02 char(24) NOT NULL, s_dist_03 char(24) NOT NULL, s_dist_04 char(24) NOT NULL, s_dist_05 char(24) NOT NULL, s_dist_06 char(24) NOT NULL, s_dist_07 char(24) NOT NULL, s_dist_08 char(24) NOT NULL, s_dist_09 char(24) NOT NULL, s_dist_10 char(24) NOT NULL, s_ytd int NOT NULL, s_order_cnt int NOT NULL, s_remote_cnt int NOT NULL, s_data varchar(50) NOT NULL) WITH (fillfactor=90);
CREATE TABLE customer (c_id int NOT NULL, c_d_id int NOT NULL, c_w_id int NOT NULL, c_first varchar(16) NOT NULL, c_middle char(2) NOT NULL, c_last varchar(16) NOT NULL, c_street_1 varchar(20) NOT NULL, c_street_2 varchar(20) NOT NULL, c_city varchar(20) NOT NULL, c_state char(2) NOT NULL, c_zip char(9) NOT NULL, c_phone char(16) NOT NULL, c_since timestamptz NOT NULL, c_credit char(2) NOT NULL, c_credit_lim numeric(12,2) NOT NULL, c_discount numeric(4,4) NOT NULL, c_balance numeric(16,2) NOT NULL, c_ytd_payment numeric(16,2) NOT NULL, c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL, c_data varchar(500) NOT NULL) WITH (fillfactor=90);
CREATE TABLE history (h_c_id int NOT NULL, h_c_d_id int NOT NULL, h_c_w_id int NOT NULL, h_d_id int NOT NULL, h_w_id int NOT NULL, h_date timestamptz NOT NULL, h_amount numeric(6,2) NOT NULL, h_data varchar(24) NOT NULL);
CREATE TABLE orders (o_id int NOT NULL, o_d_id int NOT NULL, o_w_id int NOT NULL, o_c_id int NOT NULL, o_entry_d timestamptz NOT NULL, o_carrier_id int, o_ol_cnt int NOT NULL, o_all_local int NOT NULL);
CREATE TABLE new_order (no_o_id int NOT NULL, no_d_id int NOT NULL, no_w_id int NOT NULL);
CREATE TABLE order_line (ol_o_id int NOT NULL, ol_d_id int NOT NULL, ol_w_id int NOT NULL, ol_number int NOT NULL, ol_i_id int NOT NULL, ol_supply_w_id int NOT NULL, ol_delivery_d timestamptz, ol_quantity int NOT NULL, ol_amount numeric(6,2) NOT NULL, ol_dist_info char(24) NOT NULL);
CREATE TABLE tpcc_parameters (name varchar(32) NOT NULL, value varchar(64) NOT NULL);
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY item (i_id, i_im_id, i_name, i_price, i_data) FROM STDIN; -- 5 times; 100000 rows, 20971 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 5);
COPY warehouse (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 6);
COPY district (d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, d_next_o_id) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 7);
COPY stock (s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data) FROM STDIN; -- 33 times; 200000 rows, 6241 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 40);
COPY customer (c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data) FROM STDIN; -- 21 times; 60000 rows, 2912 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 61);
COPY history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) FROM STDIN; -- 3 times; 60000 rows, 21845 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 64);
COPY orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) FROM STDIN; -- 2 times; 60000 rows, 32768 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 66);
COPY new_order (no_o_id, no_d_id, no_w_id) FROM STDIN; -- 18000 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 67);
COPY order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) FROM STDIN; -- 29 times; 600000 rows, 20971 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 96);
COPY tpcc_parameters (name, value) FROM STDIN; -- 6 rows; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE order_line ADD PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
ALTER TABLE stock ADD PRIMARY KEY (s_w_id, s_i_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
ALTER TABLE customer ADD PRIMARY KEY (c_w_id, c_d_id, c_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 3);
CREATE UNIQUE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 4);
ALTER TABLE orders ADD PRIMARY KEY (o_w_id, o_d_id, o_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 5);
CREATE UNIQUE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 6);
ALTER TABLE new_order ADD PRIMARY KEY (no_w_id, no_d_id, no_o_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 7);
ALTER TABLE item ADD PRIMARY KEY (i_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 8);
ALTER TABLE district ADD PRIMARY KEY (d_w_id, d_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 9);
ALTER TABLE warehouse ADD PRIMARY KEY (w_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 10);
ALTER TABLE tpcc_parameters ADD PRIMARY KEY (name);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) order_line;
VACUUM (ANALYZE) stock;
VACUUM (ANALYZE) customer;
VACUUM (ANALYZE) orders;
VACUUM (ANALYZE) history;
VACUUM (ANALYZE) item;
VACUUM (ANALYZE) new_order;
VACUUM (ANALYZE) district;
VACUUM (ANALYZE) warehouse;
VACUUM (ANALYZE) tpcc_parameters;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(i_id), 0) AS keys FROM item;
SELECT count(*) AS rows, coalesce(sum(w_id), 0) AS keys FROM warehouse;
SELECT count(*) AS rows, coalesce(sum((d_w_id::bigint - 1) * 10 + d_id), 0) AS keys FROM district;
SELECT count(*) AS rows, coalesce(sum((s_w_id::bigint - 1) * 100000 + s_i_id), 0) AS keys FROM stock;
SELECT count(*) AS rows, coalesce(sum(((c_w_id::bigint - 1) * 10 + c_d_id - 1) * 3000 + c_id), 0) AS keys FROM customer;
SELECT count(*) AS rows, coalesce(sum(((h_c_w_id::bigint - 1) * 10 + h_c_d_id - 1) * 3000 + h_c_id), 0) AS keys FROM history;
SELECT count(*) AS rows, coalesce(sum(((o_w_id::bigint - 1) * 10 + o_d_id - 1) * 3000 + o_id), 0) AS keys FROM orders;
SELECT count(*) AS rows, coalesce(sum(((no_w_id::bigint - 1) * 10 + no_d_id - 1) * 900 + no_o_id - 2100), 0) AS keys FROM new_order;
SELECT count(*) AS rows, coalesce(sum((ol_w_id::bigint - 1) * 10 + ol_d_id), 0) AS keys FROM order_line;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM tpcc_parameters;
SELECT count(*) FROM warehouse WHERE w_ytd <> 300000 OR w_tax NOT BETWEEN 0 AND 0.2 OR length(w_name) NOT BETWEEN 6 AND 10 OR length(w_street_1) NOT BETWEEN 10 AND 20 OR length(w_street_2) NOT BETWEEN 10 AND 20 OR length(w_city) NOT BETWEEN 10 AND 20 OR w_state NOT SIMILAR TO '[A-Z][A-Z]' OR w_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT count(*) FROM district WHERE d_ytd <> 30000 OR d_next_o_id <> 3001 OR d_tax NOT BETWEEN 0 AND 0.2 OR length(d_name) NOT BETWEEN 6 AND 10 OR length(d_street_1) NOT BETWEEN 10 AND 20 OR length(d_street_2) NOT BETWEEN 10 AND 20 OR length(d_city) NOT BETWEEN 10 AND 20 OR d_state NOT SIMILAR TO '[A-Z][A-Z]' OR d_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT CASE WHEN min(s_quantity) <> 10 OR max(s_quantity) <> 100 OR (sum(s_quantity) - 55.0 * count(*)) * (sum(s_quantity) - 55.0 * count(*)) > 36 * 690.0 * count(*) OR max(s_ytd) <> 0 OR max(s_order_cnt) <> 0 OR max(s_remote_cnt) <> 0 OR min(s_ytd) <> 0 OR min(s_order_cnt) <> 0 OR min(s_remote_cnt) <> 0 OR min(length(s_data)) <> 26 OR max(length(s_data)) <> 50 OR min(length(s_dist_01)) <> 24 OR min(length(s_dist_02)) <> 24 OR min(length(s_dist_03)) <> 24 OR min(length(s_dist_04)) <> 24 OR min(length(s_dist_05)) <> 24 OR min(length(s_dist_06)) <> 24 OR min(length(s_dist_07)) <> 24 OR min(length(s_dist_08)) <> 24 OR min(length(s_dist_09)) <> 24 OR min(length(s_dist_10)) <> 24 OR (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) THEN 1 ELSE 0 END FROM stock;
SELECT count(*) FROM (SELECT c_w_id FROM customer GROUP BY c_w_id, c_d_id HAVING count(*) <> 3000 OR count(DISTINCT c_last) <> 1000 OR min(c_balance) <> -10 OR max(c_balance) <> -10 OR min(c_ytd_payment) <> 10 OR max(c_ytd_payment) <> 10 OR min(c_payment_cnt) <> 1 OR max(c_payment_cnt) <> 1 OR max(c_delivery_cnt) <> 0 OR min(c_discount) < 0 OR max(c_discount) > 0.5 OR min(c_credit_lim) <> 50000 OR max(c_credit_lim) <> 50000) d;
SELECT CASE WHEN (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR sum(CASE WHEN c_credit IN ('BC', 'GC') AND c_middle = 'OE' AND c_zip LIKE '____11111' AND c_state SIMILAR TO '[A-Z][A-Z]' AND length(c_phone) = 16 THEN 0 ELSE 1 END) <> 0 OR min(length(c_first)) <> 8 OR max(length(c_first)) <> 16 OR min(length(c_street_1)) <> 10 OR max(length(c_street_1)) <> 20 OR min(length(c_street_2)) <> 10 OR max(length(c_street_2)) <> 20 OR min(length(c_city)) <> 10 OR max(length(c_city)) <> 20 OR min(length(c_data)) <> 300 OR max(length(c_data)) <> 500 THEN 1 ELSE 0 END FROM customer;
SELECT CASE WHEN (max(n) - 52.257812 * (sum(n) / 3000)) * (max(n) - 52.257812 * (sum(n) / 3000)) > 36 * 49.944131 * (sum(n) / 3000) THEN 1 ELSE 0 END FROM (SELECT c_last, count(*) AS n FROM customer GROUP BY c_last) names;
SELECT count(*) FROM (SELECT h_w_id FROM history GROUP BY h_w_id, h_d_id HAVING count(*) <> 3000 OR count(DISTINCT h_c_id) <> 3000 OR min(h_amount) <> 10 OR max(h_amount) <> 10 OR min(length(h_data)) < 12 OR max(length(h_data)) > 24 OR sum(CASE WHEN h_c_w_id <> h_w_id OR h_c_d_id <> h_d_id THEN 1 ELSE 0 END) <> 0) d;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING count(*) <> 900 OR min(no_o_id) <> 2101 OR max(no_o_id) <> 3000) d;
SELECT count(*) FROM (SELECT o_w_id FROM orders GROUP BY o_w_id, o_d_id HAVING count(*) <> 3000 OR count(DISTINCT o_c_id) <> 3000 OR min(o_c_id) <> 1 OR max(o_c_id) <> 3000 OR count(o_carrier_id) <> 2100 OR min(o_ol_cnt) <> 5 OR max(o_ol_cnt) <> 15 OR sum(o_ol_cnt) <> 30000 OR min(o_all_local) <> 1 OR min(o_carrier_id) <> 1 OR max(o_carrier_id) <> 10 OR sum(CASE WHEN o_c_id = o_id THEN 1 ELSE 0 END) > 20 OR max(CASE WHEN o_carrier_id IS NOT NULL THEN o_id END) <> 2100) d;
SELECT count(*) FROM order_line WHERE ol_supply_w_id <> ol_w_id OR ol_quantity <> 5 OR ol_i_id NOT BETWEEN 1 AND 100000 OR ol_number NOT BETWEEN 1 AND 15 OR (ol_o_id < 2101) <> (ol_delivery_d IS NOT NULL) OR (ol_o_id < 2101) <> (ol_amount = 0);
SELECT CASE WHEN (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) * (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) > 36 * 8333317.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END) OR (sum(ol_i_id) - 50000.5 * count(*)) * (sum(ol_i_id) - 50000.5 * count(*)) > 36 * 833333333.0 * count(*) OR min(length(ol_dist_info)) <> 24 THEN 1 ELSE 0 END FROM order_line;
SELECT CASE WHEN (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR min(length(i_data)) <> 26 OR max(length(i_data)) <> 50 OR min(length(i_name)) <> 14 OR max(length(i_name)) <> 24 OR min(i_price) < 1 OR max(i_price) > 100 OR min(i_im_id) < 1 OR max(i_im_id) > 10000 OR (sum(i_price) - 50.5 * count(*)) * (sum(i_price) - 50.5 * count(*)) > 36 * 817.0 * count(*) THEN 1 ELSE 0 END FROM item;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS ytd FROM district GROUP BY d_w_id) d ON d_w_id = w_id WHERE w_ytd IS DISTINCT FROM d.ytd) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last FROM new_order GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id WHERE d_next_o_id - 1 IS DISTINCT FROM o.last OR d_next_o_id - 1 <> coalesce(n.last, d_next_o_id - 1)) violations;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS lines FROM orders GROUP BY o_w_id, o_d_id) o FULL JOIN (SELECT ol_w_id, ol_d_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE o.lines IS DISTINCT FROM l.lines) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, o_id FROM orders WHERE o_carrier_id IS NULL) o FULL JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id WHERE o_w_id IS NULL OR no_w_id IS NULL) violations;
SELECT count(*) FROM (SELECT o_w_id FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_ol_cnt <> coalesce(l.lines, 0)) violations;
SELECT count(*) FROM (SELECT ol_w_id FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)) violations;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id) h ON h_w_id = w_id WHERE w_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id WHERE c_balance <> coalesce(d.amount, 0) - coalesce(p.amount, 0)) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS n, sum(CASE WHEN o_id > 2100 AND o_carrier_id IS NOT NULL THEN 1 ELSE 0 END) AS delivered FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS n FROM new_order GROUP BY no_w_id, no_d_id) q ON no_w_id = d_w_id AND no_d_id = d_id WHERE o.n - coalesce(q.n, 0) IS DISTINCT FROM 2100 + o.delivered) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_balance + c_ytd_payment <> coalesce(d.amount, 0)) violations;
SELECT count(*) FROM (SELECT s_i_id FROM stock LEFT JOIN (SELECT ol_supply_w_id, ol_i_id, sum(ol_quantity) AS ytd, count(*) AS orders, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line WHERE ol_o_id > 3000 GROUP BY ol_supply_w_id, ol_i_id) l ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id WHERE s_quantity NOT BETWEEN 10 AND 100 OR s_ytd <> coalesce(l.ytd, 0) OR s_order_cnt <> coalesce(l.orders, 0) OR s_remote_cnt <> coalesce(l.remote, 0)) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, count(*) AS deliveries FROM orders WHERE o_id > 2100 AND o_carrier_id IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_payment_cnt <> coalesce(p.payments, 0) OR c_ytd_payment <> coalesce(p.amount, 0) OR c_delivery_cnt <> coalesce(o.deliveries, 0)) violations;
SELECT count(*) FROM (SELECT coalesce(o_id, ol_o_id) FROM orders FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, min(ol_number) AS first, max(ol_number) AS last, count(*) AS n, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_id IS NULL OR l.n IS NULL OR l.first <> 1 OR l.last <> l.n OR (o_all_local = 1) <> (l.remote = 0)) violations;
SELECT count(*) FROM (SELECT ol_o_id FROM order_line JOIN item ON i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_amount <> ol_quantity * i_price UNION ALL SELECT ol_o_id FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_supply_w_id = ol_w_id AND ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END UNION ALL SELECT s_i_id FROM stock JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id, ol_d_id, ol_dist_info FROM order_line WHERE ol_o_id > 3000 AND ol_supply_w_id <> ol_w_id) l ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id WHERE ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END) violations;
SELECT (SELECT count(*) FROM (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c) - (SELECT count(*) FROM stock p JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c ON c.ol_supply_w_id = p.s_w_id AND c.ol_i_id = p.s_i_id);
SELECT count(*) FROM stock c LEFT JOIN item p ON c.s_i_id = p.i_id WHERE p.i_id IS NULL;
SELECT count(*) FROM stock c LEFT JOIN warehouse p ON c.s_w_id = p.w_id WHERE p.w_id IS NULL;
SELECT count(*) FROM new_order c LEFT JOIN orders p ON c.no_w_id = p.o_w_id AND c.no_d_id = p.o_d_id AND c.no_o_id = p.o_id WHERE p.o_w_id IS NULL;
SELECT count(*) FROM orders c LEFT JOIN customer p ON c.o_w_id = p.c_w_id AND c.o_d_id = p.c_d_id AND c.o_c_id = p.c_id WHERE p.c_w_id IS NULL;
SELECT (SELECT count(*) FROM (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c) - (SELECT count(*) FROM customer p JOIN (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c ON c.h_c_w_id = p.c_w_id AND c.h_c_d_id = p.c_d_id AND c.h_c_id = p.c_id);
SELECT count(*) FROM history c LEFT JOIN district p ON c.h_w_id = p.d_w_id AND c.h_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM customer c LEFT JOIN district p ON c.c_w_id = p.d_w_id AND c.c_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM district c LEFT JOIN warehouse p ON c.d_w_id = p.w_id WHERE p.w_id IS NULL;
DROP TABLE IF EXISTS pgdyno_load;


-- tpcc at scale 2 on PostgreSQL (postgres), over 2 connections

-- dropping old tables
CREATE TABLE pgdyno_load (part varchar(8) NOT NULL, number bigint NOT NULL, words text);
ALTER TABLE pgdyno_load ADD PRIMARY KEY (number, part);
INSERT INTO pgdyno_load (part, number, words) VALUES ('plan', 0, 'workload=tpcc …'); -- what is loaded, to be compared by --resume
DROP PROCEDURE IF EXISTS neword(int, int, int, int[], int[], int[], int, timestamptz, numeric, numeric, numeric, text, text, numeric, text[], numeric[], int[], text[], numeric[], boolean);
DROP FUNCTION IF EXISTS payment(int, int, int, int, int, text, numeric);
DROP FUNCTION IF EXISTS ostat(int, int, int, text);
DROP FUNCTION IF EXISTS delivery(int, int);
DROP FUNCTION IF EXISTS slev(int, int, int);
DROP TABLE IF EXISTS order_line, new_order, orders, history, customer, stock, district, warehouse, item, tpcc_parameters;

-- creating tables
CREATE TABLE item (i_id int NOT NULL, i_im_id int NOT NULL, i_name varchar(24) NOT NULL, i_price numeric(5,2) NOT NULL, i_data varchar(50) NOT NULL);
CREATE TABLE warehouse (w_id int NOT NULL, w_name varchar(10) NOT NULL, w_street_1 varchar(20) NOT NULL, w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, w_zip char(9) NOT NULL, w_tax numeric(4,4) NOT NULL, w_ytd numeric(16,2) NOT NULL) WITH (fillfactor=10);
CREATE TABLE district (d_id int NOT NULL, d_w_id int NOT NULL, d_name varchar(10) NOT NULL, d_street_1 varchar(20) NOT NULL, d_street_2 varchar(20) NOT NULL, d_city varchar(20) NOT NULL, d_state char(2) NOT NULL, d_zip char(9) NOT NULL, d_tax numeric(4,4) NOT NULL, d_ytd numeric(16,2) NOT NULL, d_next_o_id int NOT NULL) WITH (fillfactor=10);
CREATE TABLE stock (s_i_id int NOT NULL, s_w_id int NOT NULL, s_quantity int NOT NULL, s_dist_01 char(24) NOT NULL, s_dist_02 char(24) NOT NULL, s_dist_03 char(24) NOT NULL, s_dist_04 char(24) NOT NULL, s_dist_05 char(24) NOT NULL, s_dist_06 char(24) NOT NULL, s_dist_07 char(24) NOT NULL, s_dist_08 char(24) NOT NULL, s_dist_09 char(24) NOT NULL, s_dist_10 char(24) NOT NULL, s_ytd int NOT NULL, s_order_cnt int NOT NULL, s_remote_cnt int NOT NULL, s_data varchar(50) NOT NULL) WITH (fillfactor=90);
CREATE TABLE customer (c_id int NOT NULL, c_d_id int NOT NULL, c_w_id int NOT NULL, c_first varchar(16) NOT NULL, c_middle char(2) NOT NULL, c_last varchar(16) NOT NULL, c_street_1 varchar(20) NOT NULL, c_street_2 varchar(20) NOT NULL, c_city varchar(20) NOT NULL, c_state char(2) NOT NULL, c_zip char(9) NOT NULL, c_phone char(16) NOT NULL, c_since timestamptz NOT NULL, c_credit char(2) NOT NULL, c_credit_lim numeric(12,2) NOT NULL, c_discount numeric(4,4) NOT NULL, c_balance numeric(16,2) NOT NULL, c_ytd_payment numeric(16,2) NOT NULL, c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL, c_data varchar(500) NOT NULL) WITH (fillfactor=90);
CREATE TABLE history (h_c_id int NOT NULL, h_c_d_id int NOT NULL, h_c_w_id int NOT NULL, h_d_id int NOT NULL, h_w_id int NOT NULL, h_date timestamptz NOT NULL, h_amount numeric(6,2) NOT NULL, h_data varchar(24) NOT NULL);
CREATE TABLE orders (o_id int NOT NULL, o_d_id int NOT NULL, o_w_id int NOT NULL, o_c_id int NOT NULL, o_entry_d timestamptz NOT NULL, o_carrier_id int, o_ol_cnt int NOT NULL, o_all_local int NOT NULL);
CREATE TABLE new_order (no_o_id int NOT NULL, no_d_id int NOT NULL, no_w_id int NOT NULL);
CREATE TABLE order_line (ol_o_id int NOT NULL, ol_d_id int NOT NULL, ol_w_id int NOT NULL, ol_number int NOT NULL, ol_i_id int NOT NULL, ol_supply_w_id int NOT NULL, ol_delivery_d timestamptz, ol_quantity int NOT NULL, ol_amount numeric(6,2) NOT NULL, ol_dist_info char(24) NOT NULL);
CREATE TABLE tpcc_parameters (name varchar(32) NOT NULL, value varchar(64) NOT NULL);
INSERT INTO pgdyno_load (part, number) VALUES ('tables', 0);

-- loading rows
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 0);
COPY item (i_id, i_im_id, i_name, i_price, i_data) FROM STDIN; -- 5 times; 100000 rows, 20971 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 5);
COPY warehouse (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd) FROM STDIN; -- 2 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 6);
COPY district (d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, d_next_o_id) FROM STDIN; -- 20 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 7);
COPY stock (s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data) FROM STDIN; -- 33 times; 200000 rows, 6241 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 40);
COPY customer (c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data) FROM STDIN; -- 21 times; 60000 rows, 2912 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 61);
COPY history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) FROM STDIN; -- 3 times; 60000 rows, 21845 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 64);
COPY orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) FROM STDIN; -- 2 times; 60000 rows, 32768 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 66);
COPY new_order (no_o_id, no_d_id, no_w_id) FROM STDIN; -- 18000 rows; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 67);
COPY order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) FROM STDIN; -- 29 times; 600000 rows, 20971 at a time, each a transaction of its own; data left out
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('chunk', 96);
COPY tpcc_parameters (name, value) FROM STDIN; -- 6 rows; data left out
COMMIT;

-- creating primary keys
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 0);
ALTER TABLE order_line ADD PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 1);
ALTER TABLE stock ADD PRIMARY KEY (s_w_id, s_i_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 2);
ALTER TABLE customer ADD PRIMARY KEY (c_w_id, c_d_id, c_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 3);
CREATE UNIQUE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 4);
ALTER TABLE orders ADD PRIMARY KEY (o_w_id, o_d_id, o_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 5);
CREATE UNIQUE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 6);
ALTER TABLE new_order ADD PRIMARY KEY (no_w_id, no_d_id, no_o_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 7);
ALTER TABLE item ADD PRIMARY KEY (i_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 8);
ALTER TABLE district ADD PRIMARY KEY (d_w_id, d_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 9);
ALTER TABLE warehouse ADD PRIMARY KEY (w_id);
COMMIT;
BEGIN;
INSERT INTO pgdyno_load (part, number) VALUES ('key', 10);
ALTER TABLE tpcc_parameters ADD PRIMARY KEY (name);
COMMIT;

-- vacuuming and analyzing
VACUUM (ANALYZE) order_line;
VACUUM (ANALYZE) stock;
VACUUM (ANALYZE) customer;
VACUUM (ANALYZE) orders;
VACUUM (ANALYZE) history;
VACUUM (ANALYZE) item;
VACUUM (ANALYZE) new_order;
VACUUM (ANALYZE) district;
VACUUM (ANALYZE) warehouse;
VACUUM (ANALYZE) tpcc_parameters;

-- checking counts and sums
SELECT count(*) AS rows, coalesce(sum(i_id), 0) AS keys FROM item;
SELECT count(*) AS rows, coalesce(sum(w_id), 0) AS keys FROM warehouse;
SELECT count(*) AS rows, coalesce(sum((d_w_id::bigint - 1) * 10 + d_id), 0) AS keys FROM district;
SELECT count(*) AS rows, coalesce(sum((s_w_id::bigint - 1) * 100000 + s_i_id), 0) AS keys FROM stock;
SELECT count(*) AS rows, coalesce(sum(((c_w_id::bigint - 1) * 10 + c_d_id - 1) * 3000 + c_id), 0) AS keys FROM customer;
SELECT count(*) AS rows, coalesce(sum(((h_c_w_id::bigint - 1) * 10 + h_c_d_id - 1) * 3000 + h_c_id), 0) AS keys FROM history;
SELECT count(*) AS rows, coalesce(sum(((o_w_id::bigint - 1) * 10 + o_d_id - 1) * 3000 + o_id), 0) AS keys FROM orders;
SELECT count(*) AS rows, coalesce(sum(((no_w_id::bigint - 1) * 10 + no_d_id - 1) * 900 + no_o_id - 2100), 0) AS keys FROM new_order;
SELECT count(*) AS rows, coalesce(sum((ol_w_id::bigint - 1) * 10 + ol_d_id), 0) AS keys FROM order_line;
SELECT count(*) AS rows, coalesce(sum(0), 0) AS keys FROM tpcc_parameters;
SELECT count(*) FROM warehouse WHERE w_ytd <> 300000 OR w_tax NOT BETWEEN 0 AND 0.2 OR length(w_name) NOT BETWEEN 6 AND 10 OR length(w_street_1) NOT BETWEEN 10 AND 20 OR length(w_street_2) NOT BETWEEN 10 AND 20 OR length(w_city) NOT BETWEEN 10 AND 20 OR w_state NOT SIMILAR TO '[A-Z][A-Z]' OR w_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT count(*) FROM district WHERE d_ytd <> 30000 OR d_next_o_id <> 3001 OR d_tax NOT BETWEEN 0 AND 0.2 OR length(d_name) NOT BETWEEN 6 AND 10 OR length(d_street_1) NOT BETWEEN 10 AND 20 OR length(d_street_2) NOT BETWEEN 10 AND 20 OR length(d_city) NOT BETWEEN 10 AND 20 OR d_state NOT SIMILAR TO '[A-Z][A-Z]' OR d_zip NOT SIMILAR TO '[0-9]{4}11111';
SELECT CASE WHEN min(s_quantity) <> 10 OR max(s_quantity) <> 100 OR (sum(s_quantity) - 55.0 * count(*)) * (sum(s_quantity) - 55.0 * count(*)) > 36 * 690.0 * count(*) OR max(s_ytd) <> 0 OR max(s_order_cnt) <> 0 OR max(s_remote_cnt) <> 0 OR min(s_ytd) <> 0 OR min(s_order_cnt) <> 0 OR min(s_remote_cnt) <> 0 OR min(length(s_data)) <> 26 OR max(length(s_data)) <> 50 OR min(length(s_dist_01)) <> 24 OR min(length(s_dist_02)) <> 24 OR min(length(s_dist_03)) <> 24 OR min(length(s_dist_04)) <> 24 OR min(length(s_dist_05)) <> 24 OR min(length(s_dist_06)) <> 24 OR min(length(s_dist_07)) <> 24 OR min(length(s_dist_08)) <> 24 OR min(length(s_dist_09)) <> 24 OR min(length(s_dist_10)) <> 24 OR (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN s_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) THEN 1 ELSE 0 END FROM stock;
SELECT count(*) FROM (SELECT c_w_id FROM customer GROUP BY c_w_id, c_d_id HAVING count(*) <> 3000 OR count(DISTINCT c_last) <> 1000 OR min(c_balance) <> -10 OR max(c_balance) <> -10 OR min(c_ytd_payment) <> 10 OR max(c_ytd_payment) <> 10 OR min(c_payment_cnt) <> 1 OR max(c_payment_cnt) <> 1 OR max(c_delivery_cnt) <> 0 OR min(c_discount) < 0 OR max(c_discount) > 0.5 OR min(c_credit_lim) <> 50000 OR max(c_credit_lim) <> 50000) d;
SELECT CASE WHEN (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR sum(CASE WHEN c_credit IN ('BC', 'GC') AND c_middle = 'OE' AND c_zip LIKE '____11111' AND c_state SIMILAR TO '[A-Z][A-Z]' AND length(c_phone) = 16 THEN 0 ELSE 1 END) <> 0 OR min(length(c_first)) <> 8 OR max(length(c_first)) <> 16 OR min(length(c_street_1)) <> 10 OR max(length(c_street_1)) <> 20 OR min(length(c_street_2)) <> 10 OR max(length(c_street_2)) <> 20 OR min(length(c_city)) <> 10 OR max(length(c_city)) <> 20 OR min(length(c_data)) <> 300 OR max(length(c_data)) <> 500 THEN 1 ELSE 0 END FROM customer;
SELECT CASE WHEN (max(n) - 52.257812 * (sum(n) / 3000)) * (max(n) - 52.257812 * (sum(n) / 3000)) > 36 * 49.944131 * (sum(n) / 3000) THEN 1 ELSE 0 END FROM (SELECT c_last, count(*) AS n FROM customer GROUP BY c_last) names;
SELECT count(*) FROM (SELECT h_w_id FROM history GROUP BY h_w_id, h_d_id HAVING count(*) <> 3000 OR count(DISTINCT h_c_id) <> 3000 OR min(h_amount) <> 10 OR max(h_amount) <> 10 OR min(length(h_data)) < 12 OR max(length(h_data)) > 24 OR sum(CASE WHEN h_c_w_id <> h_w_id OR h_c_d_id <> h_d_id THEN 1 ELSE 0 END) <> 0) d;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING count(*) <> 900 OR min(no_o_id) <> 2101 OR max(no_o_id) <> 3000) d;
SELECT count(*) FROM (SELECT o_w_id FROM orders GROUP BY o_w_id, o_d_id HAVING count(*) <> 3000 OR count(DISTINCT o_c_id) <> 3000 OR min(o_c_id) <> 1 OR max(o_c_id) <> 3000 OR count(o_carrier_id) <> 2100 OR min(o_ol_cnt) <> 5 OR max(o_ol_cnt) <> 15 OR sum(o_ol_cnt) <> 30000 OR min(o_all_local) <> 1 OR min(o_carrier_id) <> 1 OR max(o_carrier_id) <> 10 OR sum(CASE WHEN o_c_id = o_id THEN 1 ELSE 0 END) > 20 OR max(CASE WHEN o_carrier_id IS NOT NULL THEN o_id END) <> 2100) d;
SELECT count(*) FROM order_line WHERE ol_supply_w_id <> ol_w_id OR ol_quantity <> 5 OR ol_i_id NOT BETWEEN 1 AND 100000 OR ol_number NOT BETWEEN 1 AND 15 OR (ol_o_id < 2101) <> (ol_delivery_d IS NOT NULL) OR (ol_o_id < 2101) <> (ol_amount = 0);
SELECT CASE WHEN (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) * (sum(ol_amount) - 5000.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END)) > 36 * 8333317.0 * sum(CASE WHEN ol_o_id > 2100 THEN 1 ELSE 0 END) OR (sum(ol_i_id) - 50000.5 * count(*)) * (sum(ol_i_id) - 50000.5 * count(*)) > 36 * 833333333.0 * count(*) OR min(length(ol_dist_info)) <> 24 THEN 1 ELSE 0 END FROM order_line;
SELECT CASE WHEN (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) * (sum(CASE WHEN i_data LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) - 0.1000 * count(*)) > 36 * 0.090000 * count(*) OR min(length(i_data)) <> 26 OR max(length(i_data)) <> 50 OR min(length(i_name)) <> 14 OR max(length(i_name)) <> 24 OR min(i_price) < 1 OR max(i_price) > 100 OR min(i_im_id) < 1 OR max(i_im_id) > 10000 OR (sum(i_price) - 50.5 * count(*)) * (sum(i_price) - 50.5 * count(*)) > 36 * 817.0 * count(*) THEN 1 ELSE 0 END FROM item;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS ytd FROM district GROUP BY d_w_id) d ON d_w_id = w_id WHERE w_ytd IS DISTINCT FROM d.ytd) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last FROM new_order GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id WHERE d_next_o_id - 1 IS DISTINCT FROM o.last OR d_next_o_id - 1 <> coalesce(n.last, d_next_o_id - 1)) violations;
SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS lines FROM orders GROUP BY o_w_id, o_d_id) o FULL JOIN (SELECT ol_w_id, ol_d_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id WHERE o.lines IS DISTINCT FROM l.lines) violations;
SELECT count(*) FROM (SELECT o_w_id FROM (SELECT o_w_id, o_d_id, o_id FROM orders WHERE o_carrier_id IS NULL) o FULL JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id WHERE o_w_id IS NULL OR no_w_id IS NULL) violations;
SELECT count(*) FROM (SELECT o_w_id FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS lines FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_ol_cnt <> coalesce(l.lines, 0)) violations;
SELECT count(*) FROM (SELECT ol_w_id FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)) violations;
SELECT count(*) FROM (SELECT w_id FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id) h ON h_w_id = w_id WHERE w_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd IS DISTINCT FROM h.paid) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id WHERE c_balance <> coalesce(d.amount, 0) - coalesce(p.amount, 0)) violations;
SELECT count(*) FROM (SELECT d_w_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS n, sum(CASE WHEN o_id > 2100 AND o_carrier_id IS NOT NULL THEN 1 ELSE 0 END) AS delivered FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS n FROM new_order GROUP BY no_w_id, no_d_id) q ON no_w_id = d_w_id AND no_d_id = d_id WHERE o.n - coalesce(q.n, 0) IS DISTINCT FROM 2100 + o.delivered) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_balance + c_ytd_payment <> coalesce(d.amount, 0)) violations;
SELECT count(*) FROM (SELECT s_i_id FROM stock LEFT JOIN (SELECT ol_supply_w_id, ol_i_id, sum(ol_quantity) AS ytd, count(*) AS orders, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line WHERE ol_o_id > 3000 GROUP BY ol_supply_w_id, ol_i_id) l ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id WHERE s_quantity NOT BETWEEN 10 AND 100 OR s_ytd <> coalesce(l.ytd, 0) OR s_order_cnt <> coalesce(l.orders, 0) OR s_remote_cnt <> coalesce(l.remote, 0)) violations;
SELECT count(*) FROM (SELECT c_id FROM customer LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, count(*) AS deliveries FROM orders WHERE o_id > 2100 AND o_carrier_id IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id WHERE c_payment_cnt <> coalesce(p.payments, 0) OR c_ytd_payment <> coalesce(p.amount, 0) OR c_delivery_cnt <> coalesce(o.deliveries, 0)) violations;
SELECT count(*) FROM (SELECT coalesce(o_id, ol_o_id) FROM orders FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, min(ol_number) AS first, max(ol_number) AS last, count(*) AS n, sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_id IS NULL OR l.n IS NULL OR l.first <> 1 OR l.last <> l.n OR (o_all_local = 1) <> (l.remote = 0)) violations;
SELECT count(*) FROM (SELECT ol_o_id FROM order_line JOIN item ON i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_amount <> ol_quantity * i_price UNION ALL SELECT ol_o_id FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_supply_w_id = ol_w_id AND ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END UNION ALL SELECT s_i_id FROM stock JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id, ol_d_id, ol_dist_info FROM order_line WHERE ol_o_id > 3000 AND ol_supply_w_id <> ol_w_id) l ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id WHERE ol_dist_info IS DISTINCT FROM CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END) violations;
SELECT (SELECT count(*) FROM (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c) - (SELECT count(*) FROM stock p JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id FROM order_line) c ON c.ol_supply_w_id = p.s_w_id AND c.ol_i_id = p.s_i_id);
SELECT count(*) FROM stock c LEFT JOIN item p ON c.s_i_id = p.i_id WHERE p.i_id IS NULL;
SELECT count(*) FROM stock c LEFT JOIN warehouse p ON c.s_w_id = p.w_id WHERE p.w_id IS NULL;
SELECT count(*) FROM new_order c LEFT JOIN orders p ON c.no_w_id = p.o_w_id AND c.no_d_id = p.o_d_id AND c.no_o_id = p.o_id WHERE p.o_w_id IS NULL;
SELECT count(*) FROM orders c LEFT JOIN customer p ON c.o_w_id = p.c_w_id AND c.o_d_id = p.c_d_id AND c.o_c_id = p.c_id WHERE p.c_w_id IS NULL;
SELECT (SELECT count(*) FROM (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c) - (SELECT count(*) FROM customer p JOIN (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) c ON c.h_c_w_id = p.c_w_id AND c.h_c_d_id = p.c_d_id AND c.h_c_id = p.c_id);
SELECT count(*) FROM history c LEFT JOIN district p ON c.h_w_id = p.d_w_id AND c.h_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM customer c LEFT JOIN district p ON c.c_w_id = p.d_w_id AND c.c_d_id = p.d_id WHERE p.d_w_id IS NULL;
SELECT count(*) FROM district c LEFT JOIN warehouse p ON c.d_w_id = p.w_id WHERE p.w_id IS NULL;
DROP TABLE IF EXISTS pgdyno_load;
