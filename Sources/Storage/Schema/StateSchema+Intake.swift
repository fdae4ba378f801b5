extension StateSchema {
    /// What makes submissions and notifications exactly once.
    static let intake = """
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
          fingerprint   BLOB NOT NULL,   -- of the content: a recreated row has another one
          request_id    BLOB,
          reject_reason TEXT,
          is_current    INTEGER NOT NULL DEFAULT 1,  -- 0 once the row was recreated
          is_unmirrored INTEGER NOT NULL DEFAULT 0,  -- the spool does not show the rejection yet
          imported_at   INTEGER NOT NULL,
          PRIMARY KEY (spool_id, source, row_id, fingerprint)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX imports_request ON imports (request_id) WHERE request_id IS NOT NULL;
        CREATE INDEX imports_unmirrored ON imports (imported_at) WHERE is_unmirrored = 1;
        """

    static let notifications = """
        CREATE TABLE notifications (
          key_hash     BLOB PRIMARY KEY CHECK (length(key_hash) = 32),  -- same for each delivery
          provider     TEXT NOT NULL,
          meaning      TEXT NOT NULL,
          event        TEXT NOT NULL,  -- as the provider names it
          subject_hash BLOB,           -- NULL once the service has acted on it
          client_ids   TEXT,           -- one a line; NULL for all clients, and as above
          occurred_at  INTEGER NOT NULL,
          received_at  INTEGER NOT NULL,
          uid          INTEGER NOT NULL,  -- of the program that delivered it
          role         TEXT NOT NULL,
          code         TEXT,           -- of the status page
          effect       TEXT,           -- NULL until the service has acted on it
          request_id   BLOB,
          CHECK (effect IS NULL OR subject_hash IS NULL)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX notifications_received ON notifications (received_at);
        CREATE INDEX notifications_pending ON notifications (received_at) WHERE effect IS NULL;
        CREATE UNIQUE INDEX notifications_code ON notifications (code) WHERE code IS NOT NULL;

        -- Erased subjects, so that a notification about our own revocation is recognized.
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

    /// What operators have set, and counters.
    static let operations = """
        CREATE TABLE pauses (
          kind   TEXT NOT NULL CHECK (kind IN ('provider', 'store')),
          name   TEXT NOT NULL,
          reason TEXT NOT NULL,
          since  INTEGER NOT NULL,
          PRIMARY KEY (kind, name)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE user_holds (
          user_hash BLOB PRIMARY KEY,
          reason    TEXT,
          since     INTEGER NOT NULL,
          uid       INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE store_holds (
          name   TEXT PRIMARY KEY,
          store  TEXT NOT NULL,
          rows   TEXT,  -- JSON filter; NULL for the whole store
          reason TEXT,
          since  INTEGER NOT NULL,
          uid    INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE guard_overrides (
          id         INTEGER PRIMARY KEY AUTOINCREMENT,
          allowed    INTEGER NOT NULL CHECK (allowed > 0),  -- purges
          used       INTEGER NOT NULL DEFAULT 0 CHECK (used BETWEEN 0 AND allowed),
          created_at INTEGER NOT NULL,
          expires_at INTEGER NOT NULL,
          uid        INTEGER NOT NULL
        ) STRICT;

        -- Purges begun, for the mass-deletion guard.
        CREATE TABLE purge_log (
          second INTEGER PRIMARY KEY,  -- since 1970
          count  INTEGER NOT NULL
        ) STRICT;

        -- Ended requests.
        CREATE TABLE totals (
          id        INTEGER PRIMARY KEY CHECK (id = 1),
          completed INTEGER NOT NULL,
          cancelled INTEGER NOT NULL
        ) STRICT;
        INSERT INTO totals (id, completed, cancelled) VALUES (1, 0, 0);

        -- What ended requests destroyed has left our own files.
        CREATE TABLE scrubs (
          through INTEGER PRIMARY KEY,  -- requests.end_sequence
          at      INTEGER NOT NULL
        ) STRICT;
        """
}
