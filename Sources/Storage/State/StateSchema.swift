import GRDB

/// The tables of `state.db`, as migrations that only ever grow.
///
/// Identifiers are 16-byte blobs, times are milliseconds since 1970, booleans are 0 or 1. The only
/// column that ever holds a plain user id is `requests.user_id`, and only while the request is
/// open.
///
/// A CHECK compares with `OR`: SQLite fills a temporary tree for every `IN` of more than two
/// values, with every row that is written.
enum StateSchema {
    /// `PRAGMA application_id`: "exst".
    static let applicationID = 0x6578_7374

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 state") { database in
            try database.execute(sql: "PRAGMA application_id = \(applicationID)")
            for table in [vault, requests, work, intake, operations] {
                try database.execute(sql: table)
            }
        }
        migrator.registerMigration("2 users by vault key") { database in
            try database.execute(sql: "CREATE INDEX users_key ON users (key_id)")
        }
        // Each key counts for itself; the common number is the safe beginning for each in use.
        migrator.registerMigration("3 wraps by vault key") { database in
            try database.execute(
                sql: """
                    INSERT INTO meta SELECT DISTINCT 'wrap_count.' || u.key_id, m.value
                    FROM users u JOIN meta m ON m.key = 'wrap_count';
                    DELETE FROM meta WHERE key = 'wrap_count';
                    """
            )
        }
        migrator.registerMigration("4 ends first in the mirror") { database in
            try database.execute(sql: mirrorOrder)
        }
        migrator.registerMigration("5 notifications") { database in
            try database.execute(sql: notifications)
        }
        migrator.registerMigration("6 ledger") { database in
            try database.execute(sql: LedgerSchema.tables)
        }
        migrator.registerMigration("7 directory") { database in
            try database.execute(
                sql: """
                    ALTER TABLE requests ADD COLUMN lookup TEXT;
                    ALTER TABLE revocations ADD COLUMN is_linked INTEGER NOT NULL DEFAULT 0;
                    """
            )
        }
        migrator.registerMigration("8 renewals") { database in
            try database.execute(sql: renewals)
        }
        // When the user's last sign-in was, as far as one was proven with a known subject.
        migrator.registerMigration("9 sign-ins of users") { database in
            try database.execute(sql: "ALTER TABLE users ADD COLUMN signed_in_at INTEGER")
        }
        migrator.registerMigration("10 approvals") { database in
            try database.execute(
                sql: """
                    ALTER TABLE requests ADD COLUMN approval TEXT;
                    ALTER TABLE requests ADD COLUMN operator_uid INTEGER;
                    """
            )
        }
        for (name, sql) in later {
            migrator.registerMigration(name) { try $0.execute(sql: sql) }
        }
        return migrator
    }

    /// The migrations that are nothing but their text, in order.
    private static let later = [
        ("11 re-checks", cases), ("12 holds on targets", TargetHoldTable.schema),
        ("13 found keys", FoundKeyTable.schema), ("14 tombstones of keys", keyTombstones),
        ("15 one deletion of a user", oneDeletion), ("16 scopes of receipts", scopes),
        ("17 cases opened anew", "ALTER TABLE cases ADD COLUMN is_reopened INTEGER"),
        ("18 cases of ids alone", "ALTER TABLE cases ADD COLUMN is_nameless INTEGER"),
        ("19 requests of nobody", "ALTER TABLE requests ADD COLUMN is_anonymous INTEGER"),
        ("20 begun replays", BegunReplayTable.schema),
        ("21 restored targets", "ALTER TABLE purges ADD COLUMN restored_at INTEGER"),
        ("22 evidence", evidence),
        ("23 obstacles", "ALTER TABLE purges ADD COLUMN obstacle TEXT"),
        ("24 due work of each uid", DueLanes.schema), ("25 scratch", ScratchPages.schema),
        (
            "26 blocked targets",
            "CREATE INDEX purges_blocked ON purges (target) WHERE obstacle IS NOT NULL"
        ),
        ("27 holds of requests", "ALTER TABLE requests ADD COLUMN has_own_hold INTEGER"),
    ]

    /// What verdicts rest on, what was refused, and what became known after a verdict.
    private static let evidence = """
        ALTER TABLE identities ADD COLUMN refused_credentials INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE revocations ADD COLUMN proof TEXT;
        ALTER TABLE revocations ADD COLUMN refused_credentials INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE addenda (
          request_id  BLOB NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
          identity_id BLOB NOT NULL,
          provider    TEXT NOT NULL,
          client_id   TEXT NOT NULL,
          verdict     TEXT NOT NULL,
          event       TEXT NOT NULL,
          occurred_at INTEGER NOT NULL,
          recorded_at INTEGER NOT NULL,
          PRIMARY KEY (request_id, identity_id, event)
        ) STRICT, WITHOUT ROWID;
        """

    /// What receipts say of the configuration, once for each content, and which counts now.
    ///
    /// Nothing refers to them by a foreign key: that would be looked up with each end of a request.
    private static let scopes = """
        CREATE TABLE scopes (
          id         INTEGER PRIMARY KEY,
          document   TEXT NOT NULL UNIQUE,
          is_current INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX scopes_current ON scopes (is_current) WHERE is_current = 1;
        ALTER TABLE requests ADD COLUMN scope INTEGER;
        """

    /// Completed deletions whose stores are looked at again; deleting a row destroys its key.
    ///
    /// One index for what is due and for which vault keys are needed: each deletion writes it.
    private static let cases = """
        CREATE TABLE cases (
          request_id  BLOB PRIMARY KEY CHECK (length(request_id) = 16),
          key_id      TEXT NOT NULL,
          case_key    BLOB NOT NULL CHECK (length(case_key) = 32),
          sealed_user BLOB NOT NULL,
          stage       INTEGER NOT NULL CHECK (stage >= 0),
          opened_at   INTEGER NOT NULL,
          due_at      INTEGER NOT NULL,
          returned_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX cases_due ON cases (key_id, due_at);
        CREATE INDEX cases_returned ON cases (returned_at) WHERE returned_at IS NOT NULL;
        ALTER TABLE requests ADD COLUMN rechecks TEXT;
        """

    /// `user_hash` of a key is the hash of an id that a store knew the user by, `hashes` those of
    /// the sealed ids of a row, 32 bytes each.
    private static let keyTombstones = """
        ALTER TABLE tombstones ADD COLUMN is_key INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX tombstones_keys ON tombstones (request_id, user_hash) WHERE is_key = 1;
        ALTER TABLE found_keys ADD COLUMN hashes BLOB CHECK (length(hashes) % 32 = 0);
        """

    /// Destroying a row of `users` destroys the data key and, by the cascade, all that it sealed.
    private static let vault = """
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE users (
          id          INTEGER PRIMARY KEY,
          user_hash   BLOB NOT NULL UNIQUE CHECK (length(user_hash) = 32),
          wrapped_key BLOB NOT NULL,
          key_id      TEXT NOT NULL
        ) STRICT;
        CREATE TABLE identities (
          id             BLOB PRIMARY KEY CHECK (length(id) = 16),
          owner          INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
          provider       TEXT NOT NULL,
          client_id      TEXT NOT NULL,
          subject_hash   BLOB,
          subject_nonce  BLOB,
          sealed_subject BLOB,
          subject_first_seen_at INTEGER,
          subject_mismatch_at   INTEGER,
          created_at     INTEGER NOT NULL,
          updated_at     INTEGER NOT NULL,
          UNIQUE (owner, provider, client_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX identities_subject ON identities (provider, subject_hash)
          WHERE subject_hash IS NOT NULL;
        CREATE TABLE credentials (
          id              INTEGER PRIMARY KEY AUTOINCREMENT,
          identity_id     BLOB NOT NULL REFERENCES identities (id) ON DELETE CASCADE,
          kind            TEXT NOT NULL CHECK (kind = 'authorization_code'
            OR kind = 'refresh_token' OR kind = 'access_token' OR kind = 'id_token'),
          row_nonce       BLOB NOT NULL,
          sealed_secret   BLOB,
          sealed_code_verifier BLOB,
          redirect_uri    TEXT,
          fingerprint     BLOB NOT NULL,
          created_at      INTEGER NOT NULL,
          last_live_at    INTEGER,
          last_refresh_at INTEGER,
          expires_at      INTEGER,
          code_phase      TEXT CHECK (code_phase = 'pending' OR code_phase = 'exchanging'
            OR code_phase = 'exchanged' OR code_phase = 'refused' OR code_phase = 'unknown'
            OR code_phase = 'expired'),
          code_failures   INTEGER NOT NULL DEFAULT 0,
          UNIQUE (identity_id, fingerprint),
          CHECK ((kind = 'authorization_code') = (code_phase IS NOT NULL)),
          CHECK ((sealed_secret IS NULL) = (code_phase IS 'exchanged' OR code_phase IS 'refused'
            OR code_phase IS 'unknown' OR code_phase IS 'expired'))
        ) STRICT;
        CREATE INDEX credentials_open_codes ON credentials (created_at)
          WHERE code_phase IN ('pending', 'exchanging');
        """

    /// The last CHECK of `requests` is invariant I-3: no purge before every verdict.
    ///
    /// `slot` is empty for the open `delete_account`, of which a user has at most one, and the id
    /// for every other request.
    private static let requests = """
        CREATE TABLE requests (
          id           BLOB PRIMARY KEY CHECK (length(id) = 16),
          kind         TEXT NOT NULL CHECK (kind IN ('delete_account', 'revoke_tokens')),
          user_id      TEXT CHECK ((user_id IS NULL) = (ended_at IS NOT NULL)),
          user_hash    BLOB NOT NULL CHECK (length(user_hash) = 32),
          slot         BLOB NOT NULL CHECK
            (slot = iif(kind = 'delete_account' AND ended_at IS NULL, x'', id)),
          generation   INTEGER NOT NULL CHECK (generation > 0),
          grace_s      INTEGER,
          providers    TEXT,
          reason       TEXT,
          account_created_at INTEGER,
          origin       TEXT NOT NULL CHECK (origin IN ('control', 'spool')),
          origin_uid   INTEGER,
          origin_role  TEXT,
          created_at   INTEGER NOT NULL,
          accepted_at  INTEGER NOT NULL,
          not_before   INTEGER NOT NULL,
          deadline_at  INTEGER NOT NULL,
          phase        TEXT NOT NULL CHECK (phase = 'accepted' OR phase = 'scheduled'
                         OR phase = 'revoking' OR phase = 'purging' OR phase = 'verifying'
                         OR phase = 'completed' OR phase = 'cancelled'),
          park_reason  TEXT,
          park_until   INTEGER,
          due_at       INTEGER,
          lane         TEXT NOT NULL,
          open_revocations INTEGER NOT NULL CHECK (open_revocations >= 0),
          purge_started_at INTEGER,
          ended_at     INTEGER CHECK
            ((ended_at IS NOT NULL) = (phase IN ('completed', 'cancelled'))),
          end_detail   TEXT,
          end_sequence INTEGER,
          crash_count  INTEGER NOT NULL DEFAULT 0,
          is_held      INTEGER NOT NULL DEFAULT 0,
          is_without_identities INTEGER NOT NULL DEFAULT 0,
          is_active    INTEGER NOT NULL DEFAULT 0,
          revision     INTEGER NOT NULL DEFAULT 1,
          mirrored_revision INTEGER NOT NULL DEFAULT 0,
          spool_rows   INTEGER NOT NULL DEFAULT 0,
          updated_at   INTEGER NOT NULL,
          CHECK (NOT (kind = 'delete_account' AND open_revocations > 0
            AND (phase = 'purging' OR phase = 'verifying' OR phase = 'completed')))
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX requests_user ON requests (user_hash, slot);
        CREATE INDEX requests_due ON requests (lane, due_at, phase, park_reason, is_active)
          WHERE ended_at IS NULL;
        CREATE INDEX requests_deadline ON requests (deadline_at) WHERE ended_at IS NULL;
        CREATE INDEX requests_parked ON requests (park_reason)
          WHERE park_reason IS NOT NULL AND ended_at IS NULL;
        CREATE INDEX requests_unmirrored ON requests (id)
          WHERE spool_rows > 0 AND mirrored_revision < revision;
        """

    /// A user has at most one open `delete_account`.
    ///
    /// A trigger and not a unique index: that would change with each end, and what is keyed by a
    /// hash dirties a page of its own for each row that is written, a quarter of all pages then.
    private static let oneDeletion = """
        DROP INDEX requests_user;
        CREATE INDEX requests_user ON requests (user_hash);
        CREATE TRIGGER requests_one_deletion BEFORE INSERT ON requests WHEN NEW.slot = x''
        BEGIN
          SELECT RAISE (ABORT, 'the user has an open delete_account') WHERE EXISTS
            (SELECT 1 FROM requests WHERE user_hash = NEW.user_hash AND slot = x'');
        END;
        """

    /// The spool shows results before what is on its way.
    private static let mirrorOrder = """
        DROP INDEX requests_unmirrored;
        CREATE INDEX requests_unmirrored ON requests (id)
          WHERE spool_rows > 0 AND mirrored_revision < revision AND ended_at IS NULL;
        CREATE INDEX requests_unmirrored_ends ON requests (end_sequence)
          WHERE spool_rows > 0 AND mirrored_revision < revision AND ended_at IS NOT NULL;
        """

    private static let work = """
        CREATE TABLE revocations (
          request_id    BLOB NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
          position      INTEGER NOT NULL,
          identity_id   BLOB NOT NULL,
          provider      TEXT NOT NULL,
          client_id     TEXT NOT NULL,
          is_shared     INTEGER NOT NULL,
          credentials   TEXT NOT NULL,
          verdict       TEXT,
          attempts      INTEGER NOT NULL,
          failures      INTEGER NOT NULL,
          retry_at      INTEGER,
          waiting_since INTEGER,
          started_at    INTEGER,
          ended_at      INTEGER,
          last_failure  TEXT,
          PRIMARY KEY (request_id, position)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE purges (
          request_id   BLOB NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
          position     INTEGER NOT NULL,
          target       TEXT NOT NULL,
          step         TEXT NOT NULL
            CHECK (step = 'waiting' OR step = 'purged' OR step = 'verified'),
          counts       TEXT NOT NULL,
          attempts     INTEGER NOT NULL,
          failures     INTEGER NOT NULL,
          retry_at     INTEGER,
          started_at   INTEGER,
          ended_at     INTEGER,
          last_failure TEXT,
          PRIMARY KEY (request_id, position)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE tombstones (
          sequence   INTEGER PRIMARY KEY,
          user_hash  BLOB NOT NULL,
          generation INTEGER NOT NULL,
          erased_at  INTEGER NOT NULL,
          request_id BLOB NOT NULL
        ) STRICT;
        """

    /// `imports` is what makes the spool exactly once; a row that was recreated has another
    /// fingerprint.
    private static let intake = """
        CREATE TABLE idempotency (
          scope            TEXT NOT NULL,
          key_hash         BLOB NOT NULL,
          request_id       BLOB NOT NULL,
          body_fingerprint BLOB NOT NULL,
          created_at       INTEGER NOT NULL,
          PRIMARY KEY (scope, key_hash)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX idempotency_age ON idempotency (created_at);
        CREATE TABLE imports (
          spool_id      TEXT NOT NULL,
          source        TEXT NOT NULL CHECK (source IN ('requests', 'credentials')),
          row_id        INTEGER NOT NULL,
          fingerprint   BLOB NOT NULL,
          request_id    BLOB,
          reject_reason TEXT,
          is_current    INTEGER NOT NULL DEFAULT 1,
          is_unmirrored INTEGER NOT NULL DEFAULT 0,
          imported_at   INTEGER NOT NULL,
          PRIMARY KEY (spool_id, source, row_id, fingerprint)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX imports_request ON imports (request_id) WHERE request_id IS NOT NULL;
        CREATE INDEX imports_unmirrored ON imports (imported_at) WHERE is_unmirrored = 1;
        CREATE TABLE sign_ins (
          fingerprint BLOB PRIMARY KEY,
          expires_at  INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sign_ins_expiry ON sign_ins (expires_at);
        """

    /// `subject_hash` and `client_ids` are there only while a notice waits to be acted on.
    ///
    /// `erased_links` lets an echo of our own revocation be recognised after the user is gone; it
    /// is pruned, like `notices`.
    private static let notifications = """
        ALTER TABLE users ADD COLUMN id_nonce BLOB;
        ALTER TABLE users ADD COLUMN sealed_id BLOB;
        ALTER TABLE identities ADD COLUMN link_cut_at INTEGER;
        CREATE TABLE notifications (
          key_hash     BLOB PRIMARY KEY CHECK (length(key_hash) = 32),
          provider     TEXT NOT NULL,
          meaning      TEXT NOT NULL,
          event        TEXT NOT NULL,
          subject_hash BLOB,
          client_ids   TEXT,
          occurred_at  INTEGER NOT NULL,
          received_at  INTEGER NOT NULL,
          uid          INTEGER NOT NULL,
          role         TEXT NOT NULL,
          effect       TEXT,
          request_id   BLOB,
          code         TEXT,
          CHECK (effect IS NULL OR subject_hash IS NULL)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX notifications_received ON notifications (received_at);
        CREATE INDEX notifications_pending ON notifications (received_at) WHERE effect IS NULL;
        CREATE UNIQUE INDEX notifications_code ON notifications (code) WHERE code IS NOT NULL;
        CREATE TABLE erased_links (
          subject_hash BLOB NOT NULL,
          identity_id  BLOB NOT NULL,
          provider     TEXT NOT NULL,
          request_id   BLOB NOT NULL,
          ended_at     INTEGER NOT NULL,
          PRIMARY KEY (subject_hash, identity_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX erased_links_age ON erased_links (ended_at);
        """

    /// Tokens that die unused; docs/ARCHITECTURE.md, "Keeping tokens alive".
    ///
    /// `refresh_begun_at` is set while a refresh that may use the token up is under way, and after
    /// one that nobody heard of, until a live answer is newer.
    private static let renewals = """
        ALTER TABLE credentials ADD COLUMN refresh_begun_at INTEGER;
        CREATE TABLE renewals (
          credential_id INTEGER PRIMARY KEY REFERENCES credentials (id) ON DELETE CASCADE,
          provider      TEXT NOT NULL,
          due_at        INTEGER,
          warn_at       INTEGER,
          warned_at     INTEGER,
          failures      INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX renewals_due ON renewals (provider, due_at) WHERE due_at IS NOT NULL;
        CREATE INDEX renewals_warn ON renewals (provider, warn_at) WHERE warn_at IS NOT NULL;
        CREATE INDEX renewals_warned ON renewals (provider) WHERE warned_at IS NOT NULL;
        """

    /// `totals` counts ended requests, `scrubs` says until which of them our own files are clean.
    private static let operations = """
        CREATE TABLE pauses (
          kind   TEXT NOT NULL CHECK (kind IN ('provider', 'target')),
          name   TEXT NOT NULL,
          reason TEXT NOT NULL,
          since  INTEGER NOT NULL,
          PRIMARY KEY (kind, name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE user_holds (
          user_hash BLOB PRIMARY KEY,
          since     INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE guard_overrides (
          id         INTEGER PRIMARY KEY AUTOINCREMENT,
          allowed    INTEGER NOT NULL CHECK (allowed > 0),
          used       INTEGER NOT NULL DEFAULT 0 CHECK (used BETWEEN 0 AND allowed),
          created_at INTEGER NOT NULL,
          expires_at INTEGER NOT NULL,
          uid        INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE purge_log (
          second INTEGER PRIMARY KEY,
          count  INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE totals (
          id        INTEGER PRIMARY KEY CHECK (id = 1),
          completed INTEGER NOT NULL,
          cancelled INTEGER NOT NULL
        ) STRICT;
        INSERT INTO totals VALUES (1, 0, 0);
        CREATE TABLE scrubs (
          through INTEGER PRIMARY KEY,
          at      INTEGER NOT NULL
        ) STRICT;
        """
}
