//! `neword`, the routine that enters an order: set-based where an order allows
//! it, line by line where items repeat.

use crate::tpcc::Profile;

/// The routine, with places for what differs between the profiles.
///
/// Locks are taken as in the client's form: nothing but reads before the
/// stock, the stock in the order of its keys, the district after it and so
/// held for the inserts only. An `UPDATE` touches a row once, so the lines that
/// repeat an item of one warehouse follow one by one, in their order, from what
/// the first has left; about one order in a hundred has such. An item that does
/// not exist is left out, and everything is rolled back when the work of the
/// other lines is done (clause 2.4.2.3).
///
/// One statement for the stock and one for the inserts: a loop over the lines
/// took the server an eighth more of its time (PostgreSQL 15, ten lines).
const NEWORD: &str = "\
CREATE PROCEDURE neword(in_w int, in_d int, in_c int, in_items int[], in_supplies int[], \
in_quantities int[], INOUT o_id int, INOUT entry_d timestamptz, INOUT w_tax numeric, \
INOUT d_tax numeric, INOUT discount numeric, INOUT last text, INOUT credit text, \
INOUT total numeric, INOUT names text[], INOUT prices numeric[], INOUT stocks int[], \
INOUT brands text[], INOUT amounts numeric[], INOUT rolled_back boolean)
LANGUAGE plpgsql AS $pgdyno$
#variable_conflict use_column
DECLARE
  line record;
  place record;
  lines int := cardinality(in_items);
  places int[];
  infos text[];
  factor numeric;
BEGIN
  rolled_back := false;
  entry_d := now();
  SELECT w.w_tax, d.d_tax, c.c_discount, c.c_last, c.c_credit
    INTO neword.w_tax, neword.d_tax, neword.discount, neword.last, neword.credit
    FROM warehouse w, district d, customer c WHERE w.w_id = in_w AND d.d_w_id = in_w
      AND d.d_id = in_d AND c.c_w_id = in_w AND c.c_d_id = in_d AND c.c_id = in_c;
  factor := (1 - neword.discount) * (1 + neword.w_tax + neword.d_tax);
  WITH taken AS (
    UPDATE stock s SET {stock}
      FROM (SELECT DISTINCT ON (u.supply, u.item) u.n::int AS n, u.item, u.supply, u.quantity,
            i.i_price, i.i_name, i.i_data LIKE '%ORIGINAL%' AS is_original
          FROM unnest(in_items, in_supplies, in_quantities)
            WITH ORDINALITY AS u(item, supply, quantity, n)
          JOIN item i ON i.i_id = u.item
          ORDER BY u.supply, u.item, u.n) line
      WHERE s.s_w_id = line.supply AND s.s_i_id = line.item
      RETURNING line.n, line.i_name, line.i_price, s.s_quantity,
        CASE WHEN line.is_original AND s.s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END AS brand,
        {amount} AS amount, {dist} AS dist)
  SELECT array_agg(t.n), array_agg(t.i_name), array_agg(t.i_price), array_agg(t.s_quantity),
      array_agg(t.brand), array_agg(t.amount), array_agg(t.dist)
    INTO places, names, prices, stocks, brands, amounts, infos
    FROM (SELECT * FROM taken ORDER BY taken.n) t;
  IF coalesce(cardinality(places), 0) < lines THEN
    SELECT array_agg(t.name ORDER BY u.n), array_agg(t.price ORDER BY u.n),
        array_agg(t.stock ORDER BY u.n), array_agg(t.brand ORDER BY u.n),
        array_agg(t.amount ORDER BY u.n), array_agg(t.info ORDER BY u.n)
      INTO names, prices, stocks, brands, amounts, infos
      FROM generate_series(1, lines) AS u(n)
      LEFT JOIN unnest(places, names, prices, stocks, brands, amounts, infos)
        AS t(n, name, price, stock, brand, amount, info) ON t.n = u.n;
    FOR line IN
      SELECT u.n::int AS n, u.item, u.supply, u.quantity, i.i_price, i.i_name,
          i.i_data LIKE '%ORIGINAL%' AS is_original
        FROM unnest(in_items, in_supplies, in_quantities)
          WITH ORDINALITY AS u(item, supply, quantity, n)
        LEFT JOIN item i ON i.i_id = u.item
        WHERE infos[u.n] IS NULL
        ORDER BY u.supply, u.item, u.n
    LOOP
      IF line.i_price IS NULL THEN
        rolled_back := true;
        CONTINUE;
      END IF;
      UPDATE stock s SET {stock}
        WHERE s.s_w_id = line.supply AND s.s_i_id = line.item
        RETURNING s.s_quantity, s.s_data LIKE '%ORIGINAL%' AS is_original, {dist} AS dist
        INTO place;
      names[line.n] := line.i_name;
      prices[line.n] := line.i_price;
      stocks[line.n] := place.s_quantity;
      brands[line.n] := CASE WHEN line.is_original AND place.is_original THEN 'B' ELSE 'G' END;
      amounts[line.n] := {amount};
      infos[line.n] := place.dist;
    END LOOP;
  END IF;
  UPDATE district d SET d_next_o_id = d.d_next_o_id + 1 WHERE d.d_w_id = in_w AND d.d_id = in_d
    RETURNING d.d_next_o_id - 1 INTO neword.o_id;
  WITH entered AS (
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
      VALUES (neword.o_id, in_d, in_w, in_c, neword.entry_d, lines,
        CASE WHEN in_w = ALL (in_supplies) THEN 1 ELSE 0 END)),
  queued AS (
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (neword.o_id, in_d, in_w))
  INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
      ol_quantity, ol_amount, ol_dist_info)
    SELECT neword.o_id, in_d, in_w, u.n, u.item, u.supply, u.quantity, u.amount, u.info
      FROM unnest(in_items, in_supplies, in_quantities, amounts, infos)
        WITH ORDINALITY AS u(item, supply, quantity, amount, info, n)
      WHERE u.amount IS NOT NULL;
  IF rolled_back THEN
    ROLLBACK;
    RETURN;
  END IF;
  SELECT {total} INTO neword.total FROM unnest(amounts) AS u(amount);
END
$pgdyno$";

/// What a line takes from the stock.
const QUANTITY: &str = "s_quantity = s.s_quantity - line.quantity
          + CASE WHEN s.s_quantity >= line.quantity + 10 THEN 0 ELSE 91 END";

/// The counters, which the faithful profile keeps.
const COUNTERS: &str = ",
          s_ytd = s.s_ytd + line.quantity, s_order_cnt = s.s_order_cnt + 1,
          s_remote_cnt = s.s_remote_cnt + CASE WHEN line.supply = in_w THEN 0 ELSE 1 END";

/// The stock's text for the district.
const DIST: &str = "CASE in_d
          WHEN 1 THEN s.s_dist_01 WHEN 2 THEN s.s_dist_02 WHEN 3 THEN s.s_dist_03
          WHEN 4 THEN s.s_dist_04 WHEN 5 THEN s.s_dist_05 WHEN 6 THEN s.s_dist_06
          WHEN 7 THEN s.s_dist_07 WHEN 8 THEN s.s_dist_08 WHEN 9 THEN s.s_dist_09
          ELSE s.s_dist_10 END";

/// The statement that makes the routine.
///
/// In the faithful profile an amount is quantity times price and the three
/// counters of the stock are kept. HammerDB puts taxes and discount into the
/// amount and leaves the counters alone.
pub(super) fn neword(profile: Profile) -> String {
    let [counters, amount, total] = match profile {
        Profile::Faithful => [COUNTERS, "line.quantity * line.i_price", "sum(u.amount) * factor"],
        Profile::Hammerdb => {
            ["", "round(line.quantity * line.i_price * factor, 2)", "sum(u.amount)"]
        }
    };
    NEWORD
        .replace("{stock}", &format!("{QUANTITY}{counters}"))
        .replace("{amount}", amount)
        .replace("{dist}", DIST)
        .replace("{total}", total)
}
