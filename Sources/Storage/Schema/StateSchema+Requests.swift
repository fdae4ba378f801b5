extension StateSchema {
    /// The last CHECK is invariant I-3: no purge before every verdict.
    static let requests = """
        CREATE TABLE requests (
          id               BLOB PRIMARY KEY CHECK (length(id) = 16),
          kind             TEXT NOT NULL CHECK (kind IN ('delete_account', 'revoke_tokens')),
          user_id          TEXT CHECK ((user_id IS NULL) = (ended_at IS NOT NULL)),
          user_hash        BLOB NOT NULL CHECK (length(user_hash) = 32),
          slot             BLOB NOT NULL CHECK  -- empty for an open delete_account
            (slot = CASE WHEN kind = 'delete_account' AND ended_at IS NULL THEN x'' ELSE id END),
          generation       INTEGER NOT NULL CHECK (generation > 0),  -- of the account, from 1
          grace_s          INTEGER,
          providers        TEXT,     -- JSON list; NULL for all
          reason           TEXT,
          account_created_at INTEGER,
          origin           TEXT NOT NULL CHECK (origin IN ('control', 'spool')),
          origin_uid       INTEGER,  -- of the caller of the control socket
          origin_role      TEXT,
          operator_uid     INTEGER,  -- of the operator who submitted it
          is_anonymous     INTEGER NOT NULL DEFAULT 0,  -- it names no submitter: two approvals
          created_at       INTEGER NOT NULL,  -- as the application says
          accepted_at      INTEGER NOT NULL,
          not_before       INTEGER NOT NULL,  -- the end of the grace period
          deadline_at      INTEGER NOT NULL,
          phase            TEXT NOT NULL CHECK (phase = 'accepted' OR phase = 'scheduled'
                             OR phase = 'revoking' OR phase = 'purging' OR phase = 'verifying'
                             OR phase = 'completed' OR phase = 'cancelled'),
          park_reason      TEXT,
          park_until       INTEGER,
          due_at           INTEGER,
          lane             TEXT NOT NULL,     -- the provider it waits for; '' for none
          lookup           TEXT,              -- JSON
          approval         TEXT,              -- JSON
          open_revocations INTEGER NOT NULL CHECK (open_revocations >= 0),
          purge_started_at INTEGER,
          ended_at         INTEGER CHECK
            ((ended_at IS NOT NULL) = (phase IN ('completed', 'cancelled'))),
          end_detail       TEXT,
          end_sequence     INTEGER,           -- its place among all ended requests
          scope            INTEGER,           -- scopes.id at its end; without a foreign key, which
                                              -- SQLite would look up with each end
          rechecks         TEXT,              -- JSON
          crash_count      INTEGER NOT NULL DEFAULT 0,
          is_held          INTEGER NOT NULL DEFAULT 0,
          has_own_hold     INTEGER NOT NULL DEFAULT 0,  -- an operator holds this request alone
          is_without_identities INTEGER NOT NULL DEFAULT 0,
          unread_sources   TEXT,              -- JSON list; NULL for none
          is_active        INTEGER NOT NULL DEFAULT 0,  -- effects are under way
          revision         INTEGER NOT NULL DEFAULT 1,  -- rises when applications see a change
          mirrored_revision INTEGER NOT NULL DEFAULT 0,
          spool_rows       INTEGER NOT NULL DEFAULT 0,  -- rows of spools that show it
          leaves           TEXT NOT NULL DEFAULT '',    -- indexes of its leaves in the ledger
          updated_at       INTEGER NOT NULL,
          CHECK (NOT (kind = 'delete_account' AND open_revocations > 0
            AND (phase = 'purging' OR phase = 'verifying' OR phase = 'completed')))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX requests_user ON requests (user_hash);
        CREATE INDEX requests_due ON requests (lane, due_at, phase, park_reason, is_active)
          WHERE ended_at IS NULL;
        -- A flood of one uid delays no other.
        CREATE INDEX requests_due_uid ON requests (lane, origin_uid, due_at)
          WHERE ended_at IS NULL AND origin_uid IS NOT NULL;
        CREATE INDEX requests_deadline ON requests (deadline_at) WHERE ended_at IS NULL;
        CREATE INDEX requests_parked ON requests (park_reason)
          WHERE park_reason IS NOT NULL AND ended_at IS NULL;
        -- Reports. Both grow at their end, and a report reads nothing else of most rows.
        CREATE INDEX requests_accepted ON requests (accepted_at, kind);
        CREATE INDEX requests_ended
          ON requests (ended_at, end_sequence, kind, phase, end_detail, scope, created_at,
            deadline_at) WHERE ended_at IS NOT NULL;
        -- The spool shows ended requests before open ones.
        CREATE INDEX requests_unmirrored ON requests (id)
          WHERE spool_rows > 0 AND mirrored_revision < revision AND ended_at IS NULL;
        CREATE INDEX requests_unmirrored_ends ON requests (end_sequence)
          WHERE spool_rows > 0 AND mirrored_revision < revision AND ended_at IS NOT NULL;
        """

    /// The parts of requests, and what remains of them.
    static let work = """
        CREATE TABLE revocations (
          request_id    BLOB NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
          position      INTEGER NOT NULL,
          identity_id   BLOB NOT NULL,
          provider      TEXT NOT NULL,
          client_id     TEXT NOT NULL,
          is_shared     INTEGER NOT NULL,  -- another user has the same subject
          is_linked     INTEGER NOT NULL DEFAULT 0,
          is_one_of_several INTEGER NOT NULL DEFAULT 0,  -- of the user's accounts at the client
          subject_hash  BLOB,              -- of a link, until the end
          credentials   TEXT NOT NULL,     -- JSON
          verdict       TEXT,
          proof         TEXT,              -- what the verdict rests on
          refused_credentials INTEGER NOT NULL DEFAULT 0,
          attempts      INTEGER NOT NULL,
          failures      INTEGER NOT NULL,
          outages       INTEGER NOT NULL DEFAULT 0,  -- among the failures
          retry_at      INTEGER,
          waiting_since INTEGER,           -- for a new sign-in
          started_at    INTEGER,
          ended_at      INTEGER,
          last_failure  TEXT,
          last_answer   TEXT,              -- JSON: the vendor's, until the end with its words
          PRIMARY KEY (request_id, position)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE purges (
          request_id   BLOB NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
          position     INTEGER NOT NULL,
          store        TEXT NOT NULL,
          step         TEXT NOT NULL
            CHECK (step = 'waiting' OR step = 'purged' OR step = 'verified'),
          counts       TEXT NOT NULL,  -- JSON
          attempts     INTEGER NOT NULL,
          failures     INTEGER NOT NULL,
          outages      INTEGER NOT NULL DEFAULT 0,  -- among the failures
          retry_at     INTEGER,
          started_at   INTEGER,
          ended_at     INTEGER,
          last_failure TEXT,
          restored_at  INTEGER,        -- the store was restored: data of up to then goes, too
          judged_at    INTEGER,        -- when rows were first found with dates in the future
          fewest_left  INTEGER,        -- rows that a verification found since one without any
          obstacle     TEXT,           -- what in the store prevents the purge
          PRIMARY KEY (request_id, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX purges_blocked ON purges (store) WHERE obstacle IS NOT NULL;

        -- What became known of a verdict after it was final.
        CREATE TABLE addenda (
          request_id  BLOB NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
          identity_id BLOB NOT NULL,
          provider    TEXT NOT NULL,
          client_id   TEXT NOT NULL,
          verdict     TEXT NOT NULL,     -- as it would be with this knowledge
          event       TEXT NOT NULL,
          occurred_at INTEGER NOT NULL,  -- as the provider says
          recorded_at INTEGER NOT NULL,
          PRIMARY KEY (request_id, identity_id, event)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE tombstones (
          sequence   INTEGER PRIMARY KEY,
          user_hash  BLOB NOT NULL,     -- of the user id, or of an id in a store (is_key)
          generation INTEGER NOT NULL,  -- of the account; 0 for an id in a store
          erased_at  INTEGER NOT NULL,
          request_id BLOB NOT NULL,
          is_key     INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX tombstones_keys ON tombstones (request_id, user_hash) WHERE is_key = 1;

        -- What receipts say of the configuration, once for each content.
        CREATE TABLE scopes (
          id         INTEGER PRIMARY KEY,
          digest     BLOB NOT NULL UNIQUE,  -- SHA-256 of the document, too long for an index
          document   TEXT NOT NULL,
          is_current INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX scopes_current ON scopes (is_current) WHERE is_current = 1;
        """
}
