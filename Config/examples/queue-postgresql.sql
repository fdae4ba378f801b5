-- A queue of expunged in a database of the application (PostgreSQL 12 or later).
--
--   psql -v app=APP_ROLE -v queue=QUEUE_ROLE -d DATABASE -f queue-postgresql.sql
--
-- APP_ROLE is the role that the application connects as, QUEUE_ROLE the one of the service, which
-- needs no other right. Both must exist.

\set ON_ERROR_STOP on
BEGIN;

CREATE SCHEMA expunged;

CREATE TABLE expunged.meta (version integer NOT NULL, queue_id text NOT NULL);
INSERT INTO expunged.meta
  VALUES (1, md5(random()::text || clock_timestamp()::text || pg_backend_pid()::text));

CREATE TABLE expunged.requests (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind            text NOT NULL CHECK (kind IN ('delete_account', 'revoke_tokens')),
  user_id         text NOT NULL
                    CHECK (octet_length(user_id) BETWEEN 1 AND 255 AND user_id !~ '[[:cntrl:]]'),
  idempotency_key text UNIQUE CHECK (length(idempotency_key) <= 255),
  options         text NOT NULL DEFAULT '{}'
                    CHECK (length(options) <= 4096 AND json_typeof(options::json) = 'object'),
  created_at      text NOT NULL DEFAULT
                    to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  -- output only, written by expunged, never read back:
  request_id      text,
  state           text NOT NULL DEFAULT 'submitted',
  detail          text,
  updated_at      text
);
CREATE INDEX requests_submitted ON expunged.requests (id) WHERE state = 'submitted';

CREATE TABLE expunged.credentials (  -- inbox: sealed into the vault, then scrubbed
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id       text NOT NULL
                  CHECK (octet_length(user_id) BETWEEN 1 AND 255 AND user_id !~ '[[:cntrl:]]'),
  provider      text NOT NULL,
  client_id     text,                -- required when the provider has several
  subject       text,
  kind          text NOT NULL
                  CHECK (kind IN ('authorization_code', 'refresh_token', 'access_token', 'id_token',
                                  'subject')),
  secret        text CHECK (length(secret) <= 8192),
  redirect_uri  text,
  code_verifier text,
  raw_nonce     text,
  created_at    text NOT NULL DEFAULT
                  to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  state         text NOT NULL DEFAULT 'submitted',  -- sealed, rejected: output only
  detail        text
);
CREATE INDEX credentials_submitted ON expunged.credentials (id) WHERE state = 'submitted';

-- The service waits for this and does not poll.
CREATE FUNCTION expunged.notify() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN PERFORM pg_catalog.pg_notify('expunged', ''); RETURN NULL; END $$;
CREATE TRIGGER expunged_notify AFTER INSERT ON expunged.requests
  FOR EACH STATEMENT EXECUTE FUNCTION expunged.notify();
CREATE TRIGGER expunged_notify AFTER INSERT ON expunged.credentials
  FOR EACH STATEMENT EXECUTE FUNCTION expunged.notify();

GRANT USAGE ON SCHEMA expunged TO :"app", :"queue";
GRANT SELECT, INSERT, DELETE ON expunged.requests TO :"app";
GRANT SELECT (id, state, detail), INSERT, DELETE ON expunged.credentials TO :"app";
GRANT SELECT ON expunged.meta, expunged.requests, expunged.credentials TO :"queue";
GRANT UPDATE (user_id, idempotency_key, options, request_id, state, detail, updated_at)
  ON expunged.requests TO :"queue";
GRANT UPDATE (user_id, subject, secret, redirect_uri, code_verifier, raw_nonce, state, detail)
  ON expunged.credentials TO :"queue";

COMMIT;
