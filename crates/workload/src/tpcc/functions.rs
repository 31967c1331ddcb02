//! The five transactions as routines in the server, for `--param procs=1`:
//! one call, one round trip, one transaction.
//!
//! All are called outside of a transaction block. Their inputs are those that
//! a terminal draws; nothing is drawn in the server, so that both forms of a
//! transaction do the same work with the same inputs. Rows are locked in the
//! order of the client's form, in both profiles, so that a mix of both forms
//! does not deadlock: stock by (warehouse, item), then district in a new order;
//! customer, district, warehouse in a payment.
//!
//! | routine | call | answer |
//! |---|---|---|
//! | `neword` | `CALL neword(w int, d int, c int, items int[], supplies int[], quantities int[], NULL, …)`, [`NEWORD_OUT`] times NULL | one row: the INOUT columns; `rolled_back` says that an item does not exist and nothing was changed |
//! | `payment` | `SELECT * FROM payment(w int, d int, c_w int, c_d int, c int, last text, amount numeric)`; `c` is null to look up by `last` | one row |
//! | `ostat` | `SELECT * FROM ostat(w int, d int, c int, last text)`; as with `payment` | one row for each line of the latest order; one row without an order for a customer who has none |
//! | `delivery` | `SELECT * FROM delivery(w int, carrier int)` | one row for each district that had an order to deliver: `d_id`, `o_id` |
//! | `slev` | `SELECT slev(w int, d int, threshold int)` | one number |
//!
//! `neword` is a procedure because only a procedure can roll back without an
//! error and without a subtransaction around its work.

mod neword;

use pgdyno_script::random::hash_fnv1a;

use super::Profile;
use neword::neword;

/// INOUT parameters at the end of `neword`: `o_id`, `entry_d`, `w_tax`,
/// `d_tax`, `discount`, `last`, `credit`, `total`, `names`, `prices`,
/// `stocks`, `brands`, `amounts`, `rolled_back`; the arrays are in the order
/// of the lines.
pub const NEWORD_OUT: usize = 14;

/// Names of all routines with their kind, to drop them and to look for them.
pub(super) const ROUTINES: [(&str, &str); 5] = [
    ("neword", "PROCEDURE"),
    ("payment", "FUNCTION"),
    ("ostat", "FUNCTION"),
    ("delivery", "FUNCTION"),
    ("slev", "FUNCTION"),
];

/// Argument types of the routines, in the order of [`ROUTINES`].
const SIGNATURES: [&str; 5] = [
    "int, int, int, int[], int[], int[], int, timestamptz, numeric, numeric, numeric, text, text, \
     numeric, text[], numeric[], int[], text[], numeric[], boolean",
    "int, int, int, int, int, text, numeric",
    "int, int, int, text",
    "int, int",
    "int, int, int",
];

/// The customer in the middle of those with one last name, by first name:
/// position ceil(n / 2), counted from 1 (clause 2.5.2.2).
const MIDDLE: &str = "\
  IF found_c IS NULL THEN
    SELECT named.ids[(cardinality(named.ids) + 1) / 2] INTO found_c
      FROM (SELECT array_agg(c.c_id ORDER BY c.c_first COLLATE \"C\", c.c_id) AS ids FROM customer c
        WHERE c.c_w_id = {w} AND c.c_d_id = {d} AND c.c_last = in_last) named;
  END IF;";

const PAID_WAREHOUSE: &str = "\
  UPDATE warehouse w SET w_ytd = w.w_ytd + in_amount WHERE w.w_id = in_w
    RETURNING w.w_name, w.w_street_1, w.w_street_2, w.w_city, w.w_state, w.w_zip
    INTO w_name, payment.w_street_1, payment.w_street_2, payment.w_city, payment.w_state,
      payment.w_zip;";

const PAID_DISTRICT: &str = "\
  UPDATE district d SET d_ytd = d.d_ytd + in_amount WHERE d.d_w_id = in_w AND d.d_id = in_d
    RETURNING d.d_name, d.d_street_1, d.d_street_2, d.d_city, d.d_state, d.d_zip
    INTO d_name, payment.d_street_1, payment.d_street_2, payment.d_city, payment.d_state,
      payment.d_zip;";

/// The names that the history tells, read without a lock.
const PAID_NAMES: &str = "\
  SELECT w.w_name, d.d_name INTO w_name, d_name FROM warehouse w, district d
    WHERE w.w_id = in_w AND d.d_w_id = in_w AND d.d_id = in_d;";

fn payment(profile: Profile) -> String {
    let (counters, gap) = match profile {
        Profile::Faithful => (
            "
      c_ytd_payment = c.c_ytd_payment + in_amount, c_payment_cnt = c.c_payment_cnt + 1,",
            "    ",
        ),
        Profile::Hammerdb => ("", " "),
    };
    let middle = MIDDLE.replace("{w}", "in_c_w").replace("{d}", "in_c_d");
    let customer = format!(
        "\
{middle}
  UPDATE customer c SET c_balance = c.c_balance - in_amount,{counters}
      c_data = CASE WHEN c.c_credit = 'BC'
        THEN left(concat_ws(' ', c.c_id, c.c_d_id, c.c_w_id, in_d, in_w, in_amount) || ' '
          || c.c_data, 500) ELSE c.c_data END
    WHERE c.c_w_id = in_c_w AND c.c_d_id = in_c_d AND c.c_id = found_c
    RETURNING c.c_id, c.c_first, c.c_middle, c.c_last, c.c_street_1, c.c_street_2, c.c_city,
      c.c_state, c.c_zip, c.c_phone, c.c_since, c.c_credit, c.c_credit_lim, c.c_discount,
      c.c_balance, CASE WHEN c.c_credit = 'BC' THEN left(c.c_data, 200) ELSE '' END
    INTO payment.c_id, payment.c_first, payment.c_middle, payment.c_last, payment.c_street_1,
      payment.c_street_2, payment.c_city, payment.c_state, payment.c_zip, payment.c_phone,
      payment.c_since, payment.c_credit, payment.c_credit_lim, payment.c_discount,
      payment.c_balance, payment.c_data;"
    );
    // The rows that all wait for are written last and so held the shortest
    // time, as in the client's form.
    let history = format!(
        "\
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (found_c, in_c_d, in_c_w, in_d, in_w, payment.h_date, in_amount,
      w_name || '{gap}' || d_name);"
    );
    let work = [&customer, PAID_NAMES, &history, PAID_DISTRICT, PAID_WAREHOUSE].join("\n");
    format!(
        "\
CREATE FUNCTION payment(in_w int, in_d int, in_c_w int, in_c_d int, in_c int, in_last text, \
in_amount numeric, OUT w_street_1 text, OUT w_street_2 text, OUT w_city text, OUT w_state text, \
OUT w_zip text, OUT d_street_1 text, OUT d_street_2 text, OUT d_city text, OUT d_state text, \
OUT d_zip text, OUT c_id int, OUT c_first text, OUT c_middle text, OUT c_last text, \
OUT c_street_1 text, OUT c_street_2 text, OUT c_city text, OUT c_state text, OUT c_zip text, \
OUT c_phone text, OUT c_since timestamptz, OUT c_credit text, OUT c_credit_lim numeric, \
OUT c_discount numeric, OUT c_balance numeric, OUT c_data text, OUT h_date timestamptz)
LANGUAGE plpgsql AS $pgdyno$
#variable_conflict use_column
DECLARE
  found_c int := in_c;
  w_name text;
  d_name text;
BEGIN
  h_date := now();
{work}
END
$pgdyno$"
    )
}

fn order_status() -> String {
    let middle = MIDDLE.replace("{w}", "in_w").replace("{d}", "in_d");
    format!(
        "\
CREATE FUNCTION ostat(in_w int, in_d int, in_c int, in_last text)
RETURNS TABLE (c_id int, c_first text, c_middle text, c_last text, c_balance numeric, o_id int, \
o_entry_d timestamptz, o_carrier_id int, ol_i_id int, ol_supply_w_id int, ol_quantity int, \
ol_amount numeric, ol_delivery_d timestamptz)
LANGUAGE plpgsql AS $pgdyno$
#variable_conflict use_column
DECLARE
  found_c int := in_c;
BEGIN
{middle}
  RETURN QUERY
    SELECT c.c_id, c.c_first::text, c.c_middle::text, c.c_last::text, c.c_balance, o.o_id,
        o.o_entry_d, o.o_carrier_id, l.ol_i_id, l.ol_supply_w_id, l.ol_quantity, l.ol_amount,
        l.ol_delivery_d
      FROM (SELECT * FROM customer k
          WHERE k.c_w_id = in_w AND k.c_d_id = in_d AND k.c_id = found_c) c
      LEFT JOIN LATERAL (SELECT * FROM orders k
          WHERE k.o_w_id = in_w AND k.o_d_id = in_d AND k.o_c_id = found_c
          ORDER BY k.o_id DESC LIMIT 1) o ON true
      LEFT JOIN order_line l ON l.ol_w_id = in_w AND l.ol_d_id = in_d AND l.ol_o_id = o.o_id
      ORDER BY l.ol_number;
END
$pgdyno$"
    )
}

/// The oldest order of each district. The lock makes a second delivery wait
/// and then take the next one, so that no order is delivered twice.
fn delivery(profile: Profile) -> String {
    let counter = match profile {
        Profile::Faithful => ", c_delivery_cnt = c.c_delivery_cnt + 1",
        Profile::Hammerdb => "",
    };
    format!(
        "\
CREATE FUNCTION delivery(in_w int, in_carrier int) RETURNS TABLE (d_id int, o_id int)
LANGUAGE plpgsql AS $pgdyno$
#variable_conflict use_column
DECLARE
  district int;
  oldest int;
  buyer int;
  amount numeric;
BEGIN
  FOR district IN 1..10 LOOP
    SELECT n.no_o_id INTO oldest FROM new_order n
      WHERE n.no_w_id = in_w AND n.no_d_id = district ORDER BY n.no_o_id LIMIT 1 FOR UPDATE;
    CONTINUE WHEN NOT FOUND;
    DELETE FROM new_order n
      WHERE n.no_w_id = in_w AND n.no_d_id = district AND n.no_o_id = oldest;
    UPDATE orders o SET o_carrier_id = in_carrier
      WHERE o.o_w_id = in_w AND o.o_d_id = district AND o.o_id = oldest
      RETURNING o.o_c_id INTO buyer;
    WITH changed AS (
      UPDATE order_line l SET ol_delivery_d = now()
        WHERE l.ol_w_id = in_w AND l.ol_d_id = district AND l.ol_o_id = oldest
        RETURNING l.ol_amount)
      SELECT sum(changed.ol_amount) INTO amount FROM changed;
    UPDATE customer c SET c_balance = c.c_balance + coalesce(amount, 0){counter}
      WHERE c.c_w_id = in_w AND c.c_d_id = district AND c.c_id = buyer;
    d_id := district;
    o_id := oldest;
    RETURN NEXT;
  END LOOP;
END
$pgdyno$"
    )
}

/// Distinct items of the last 20 orders whose stock is low.
const STOCK_LEVEL: &str = "\
CREATE FUNCTION slev(in_w int, in_d int, in_threshold int) RETURNS int
LANGUAGE plpgsql STABLE AS $pgdyno$
DECLARE
  next_o int;
  low int;
BEGIN
  SELECT d.d_next_o_id INTO next_o FROM district d WHERE d.d_w_id = in_w AND d.d_id = in_d;
  SELECT count(DISTINCT l.ol_i_id) INTO low
    FROM order_line l JOIN stock s ON s.s_w_id = in_w AND s.s_i_id = l.ol_i_id
    WHERE l.ol_w_id = in_w AND l.ol_d_id = in_d AND l.ol_o_id >= next_o - 20
      AND l.ol_o_id < next_o AND s.s_quantity < in_threshold;
  RETURN low;
END
$pgdyno$";

/// Drops the routines, whether or not they are there.
pub(super) fn drop_statements() -> Vec<String> {
    ROUTINES
        .iter()
        .zip(SIGNATURES)
        .map(|((name, kind), types)| format!("DROP {kind} IF EXISTS {name}({types})"))
        .collect()
}

/// Makes the routines; the tables are there.
pub(super) fn create_statements(profile: Profile) -> Vec<String> {
    texts(profile)
        .iter()
        .map(|text| text.replacen(BODY, &format!("{BODY}-- {}\n", mark(text)), 1))
        .collect()
}

/// Where a routine's body begins.
const BODY: &str = "$pgdyno$\n";

/// In the order of [`ROUTINES`], without their marks.
fn texts(profile: Profile) -> [String; ROUTINES.len()] {
    [neword(profile), payment(profile), order_status(), delivery(profile), STOCK_LEVEL.to_owned()]
}

/// What a routine's body says of itself: a hash of its text. So routines of an
/// older version, of another profile, or another tool's of the same name and
/// arguments are told apart. The whole text is not compared: some databases
/// may give it back in their own form.
fn mark(text: &str) -> String {
    let hash = text.bytes().fold(0, |hash, byte| hash_fnv1a(byte.into(), hash));
    format!("pgdyno {hash:016x}")
}

/// One row, one number: how many of the routines are there, with their
/// arguments and as this version makes them. Names alone are not enough: other
/// tools' routines have the same.
pub(super) fn count_query(profile: Profile) -> String {
    let texts = texts(profile);
    let one = |((name, _), (types, text)): (&(&str, &str), (&str, &String))| {
        format!(
            "(oid = to_regprocedure('{name}({types})') AND strpos(prosrc, '{}') > 0)",
            mark(text)
        )
    };
    let all: Vec<String> =
        ROUTINES.iter().zip(SIGNATURES.into_iter().zip(&texts)).map(one).collect();
    format!("SELECT count(*) AS routines FROM pg_proc WHERE {}", all.join(" OR "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each routine has its mark once, at the beginning of its body, and the
    /// marks of the profiles differ where the routines do.
    #[test]
    fn routines_are_marked() {
        let marks = |profile| texts(profile).map(|text| mark(&text));
        let (faithful, hammerdb) = (marks(Profile::Faithful), marks(Profile::Hammerdb));
        let same: Vec<bool> = faithful.iter().zip(&hammerdb).map(|(a, b)| a == b).collect();
        assert_eq!(same, [false, false, true, false, true]);
        for (sql, mark) in create_statements(Profile::Faithful).iter().zip(&faithful) {
            assert_eq!(sql.matches(&format!(" AS $pgdyno$\n-- {mark}\n")).count(), 1, "{sql}");
            assert!(count_query(Profile::Faithful).contains(mark.as_str()));
        }
    }
}
