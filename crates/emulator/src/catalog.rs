//! The schema `sys` and the role `admin`, made in the server behind.

use pgdyno_wire::{Connection, Error};

/// Made once at the start, by the user of the server behind.
const SETUP: &str = r#"
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'admin') THEN
    CREATE ROLE admin LOGIN CREATEROLE;
  END IF;
  EXECUTE format('GRANT ALL ON DATABASE %I TO admin', current_database());
END $$;
GRANT ALL ON SCHEMA public TO admin;
CREATE SCHEMA IF NOT EXISTS sys;
GRANT USAGE ON SCHEMA sys TO PUBLIC;
CREATE TABLE IF NOT EXISTS sys.emulator_jobs (
  job_id text PRIMARY KEY, job_type text NOT NULL, object_name text, details text,
  start_time timestamptz NOT NULL DEFAULT clock_timestamp(), done_time timestamptz NOT NULL);
CREATE OR REPLACE VIEW sys.jobs AS
  SELECT job_id,
         CASE WHEN clock_timestamp() < done_time THEN 'submitted'
              WHEN details IS NOT NULL THEN 'failed' ELSE 'completed' END AS status,
         CASE WHEN clock_timestamp() >= done_time THEN details END AS details,
         job_type, 1259::oid AS class_id, to_regclass(object_name)::oid AS object_id,
         object_name, start_time,
         CASE WHEN clock_timestamp() >= done_time THEN done_time END AS update_time
  FROM sys.emulator_jobs WHERE done_time > clock_timestamp() - interval '30 minutes';
GRANT SELECT ON sys.jobs TO PUBLIC;
CREATE OR REPLACE VIEW sys.iam_pg_role_mappings AS
  SELECT oid AS pg_role_oid, rolname AS pg_role_name, NULL::text AS arn
  FROM pg_roles WHERE false;
GRANT SELECT ON sys.iam_pg_role_mappings TO PUBLIC;
CREATE OR REPLACE FUNCTION sys.dsql_major_version() RETURNS int
  LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE OR REPLACE FUNCTION sys.version() RETURNS text
  LANGUAGE sql IMMUTABLE AS $$SELECT 'PostgreSQL 16'::text$$;
CREATE OR REPLACE FUNCTION sys.current_setting(name text, missing_ok boolean DEFAULT false)
  RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE lower(name) WHEN 'server_version' THEN '{version}'
                          WHEN 'server_version_num' THEN '{version_num}'
                          ELSE pg_catalog.current_setting(name, missing_ok) END $$;
CREATE OR REPLACE PROCEDURE sys.wait_for_job(job text) LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog AS $$
DECLARE left_seconds float8;
BEGIN
  IF job !~ '^[a-z2-7]{26}$' THEN
    RAISE EXCEPTION 'Unable to convert text to UUID' USING ERRCODE = '22P02';
  END IF;
  SELECT extract(epoch FROM done_time - clock_timestamp()) INTO left_seconds
    FROM sys.emulator_jobs WHERE job_id = job;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'job % not found', job USING ERRCODE = '42704';
  END IF;
  PERFORM pg_sleep(greatest(left_seconds, 0));
END $$;
CREATE OR REPLACE FUNCTION sys.emulator_note_job(
    id text, job_type text, object_name text, details text, seconds float8) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
  INSERT INTO sys.emulator_jobs (job_id, job_type, object_name, details, done_time)
  VALUES (id, job_type, object_name, details,
          clock_timestamp() + make_interval(secs => seconds)) $$;
CREATE OR REPLACE FUNCTION sys.emulator_require_valid(name text) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  IF EXISTS (SELECT FROM sys.emulator_jobs
             WHERE object_name = 'public.' || name AND done_time > clock_timestamp()) THEN
    RAISE EXCEPTION 'index "%" is not valid', name USING ERRCODE = '55000';
  END IF;
END $$;
CREATE OR REPLACE FUNCTION sys.emulator_touch(relation regclass, rows tid[]) RETURNS void
  LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE name text;
BEGIN
  SELECT attname INTO name FROM pg_attribute
   WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
     AND attgenerated = '' AND attidentity <> 'a' ORDER BY attnum LIMIT 1;
  EXECUTE format('UPDATE %s SET %I = %I WHERE ctid = ANY ($1)', relation, name, name) USING rows;
END $$;
"#;

/// Limits of objects (Aurora DSQL User Guide, quotas), checked at the end of
/// each DDL of an emulator's session.
const OBJECT_LIMITS: &str = r#"
DROP EVENT TRIGGER IF EXISTS emulator_limits;
CREATE OR REPLACE FUNCTION sys.emulator_refuse(code text, message text) RETURNS void
  LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '%', message USING ERRCODE = code; END $$;
CREATE OR REPLACE FUNCTION sys.emulator_check_limits() RETURNS event_trigger
  LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
  changed oid;
  tables bigint;
  views bigint;
  sequences bigint;
BEGIN
  IF current_setting('pgdyno.emulator', true) IS DISTINCT FROM 'on' THEN
    RETURN;
  END IF;
  FOR changed IN SELECT DISTINCT objid FROM pg_event_trigger_ddl_commands()
                 WHERE classid = 'pg_class'::regclass LOOP
    PERFORM sys.emulator_refuse('54011', 'tables can have at most 255 columns')
      FROM pg_class c WHERE c.oid = changed AND relkind = 'r' AND 255 <
        (SELECT count(*) FROM pg_attribute
         WHERE attrelid = changed AND attnum > 0 AND NOT attisdropped);
    PERFORM sys.emulator_refuse('54000', format(
        'Datatype limit greater than %s bytes not supported for %s', l.bytes, l.name))
      FROM pg_attribute a
      JOIN (VALUES ('bpchar'::regtype, 4096, 'char'), ('varchar'::regtype, 65535, 'varchar'))
        AS l (type, bytes, name) ON a.atttypid = l.type AND a.atttypmod - 4 > l.bytes
      WHERE attrelid = changed AND attnum > 0 AND NOT attisdropped;
    PERFORM sys.emulator_refuse('54011', 'more than 8 column keys in an index are not supported')
      FROM pg_index WHERE changed IN (indexrelid, indrelid) AND indnkeyatts > 8;
    PERFORM sys.emulator_refuse('54000', 'more than 24 indexes per table are not allowed')
      FROM pg_index WHERE indrelid IN
        (SELECT changed UNION SELECT indrelid FROM pg_index WHERE indexrelid = changed)
      GROUP BY indrelid HAVING count(*) > 24;
  END LOOP;
  SELECT count(*) FILTER (WHERE relkind = 'r'), count(*) FILTER (WHERE relkind = 'v'),
         count(*) FILTER (WHERE relkind = 'S')
    INTO tables, views, sequences
    FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
    WHERE nspname NOT LIKE 'pg\_%' AND nspname NOT IN ('information_schema', 'sys');
  IF tables > 1000 THEN
    PERFORM sys.emulator_refuse('54000', 'creating more than 1000 tables not allowed');
  ELSIF views > 5000 THEN
    PERFORM sys.emulator_refuse('54000', 'creating more than 5000 views not allowed');
  ELSIF sequences > 5000 THEN
    PERFORM sys.emulator_refuse('54000', 'creating more than 5000 sequences is not allowed');
  ELSIF 10 < (SELECT count(*) FROM pg_namespace WHERE nspname NOT LIKE 'pg\_%'
              AND nspname NOT IN ('information_schema', 'public', 'sys')) THEN
    PERFORM sys.emulator_refuse('54000', 'more than 10 schemas not allowed');
  END IF;
END $$;
CREATE EVENT TRIGGER emulator_limits ON ddl_command_end
  WHEN TAG IN ('CREATE TABLE', 'ALTER TABLE', 'CREATE INDEX', 'CREATE VIEW', 'CREATE SEQUENCE',
               'CREATE SCHEMA')
  EXECUTE FUNCTION sys.emulator_check_limits();
"#;

/// Makes what is missing.
pub(crate) fn set_up(connection: &mut Connection) -> Result<(), Error> {
    let sql = SETUP
        .replace("{version}", crate::dialect::SERVER_VERSION)
        .replace("{version_num}", crate::dialect::SERVER_VERSION_NUM);
    connection.execute(&sql)?;
    connection.execute(OBJECT_LIMITS).map(drop)
}

/// The letters of a job's name: base 32 in lower case.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// How many of them.
const JOB_ID_LEN: usize = 26;

/// A name for a new job.
pub(crate) fn new_job_id() -> String {
    let mut bytes = [0; JOB_ID_LEN];
    // Without random numbers names repeat, and the primary key says so.
    let _ = getrandom::fill(&mut bytes);
    bytes.iter().map(|byte| LETTERS[usize::from(byte % 32)] as char).collect()
}
