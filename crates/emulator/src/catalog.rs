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

/// Makes what is missing.
pub(crate) fn set_up(connection: &mut Connection) -> Result<(), Error> {
    let sql = SETUP
        .replace("{version}", crate::dialect::SERVER_VERSION)
        .replace("{version_num}", crate::dialect::SERVER_VERSION_NUM);
    connection.execute(&sql).map(drop)
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
