extension StateSchema {
    /// What rechecks and replays need; deleting a row destroys its key.
    ///
    /// `rechecks_due` serves both due times and the search for vault keys in use: each deletion
    /// writes to it.
    static let rechecks = """
        -- Completed deletions whose stores are examined again.
        CREATE TABLE rechecks (
          request_id  BLOB PRIMARY KEY CHECK (length(request_id) = 16),
          key_id      TEXT NOT NULL,     -- the vault key of sealed_user
          recheck_key BLOB NOT NULL CHECK (length(recheck_key) = 32),  -- of this row alone
          sealed_user BLOB NOT NULL,
          stage       INTEGER NOT NULL CHECK (stage >= 0),  -- rechecks since opened_at
          opened_at   INTEGER NOT NULL,  -- when the deletion completed, or data returned
          due_at      INTEGER NOT NULL,
          returned_at INTEGER,           -- since when data is known to be in a store again
          is_reopened INTEGER NOT NULL DEFAULT 0,  -- opened after the last recheck
          is_nameless INTEGER NOT NULL DEFAULT 0   -- sealed_user names no user, only found_keys do
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX rechecks_due ON rechecks (key_id, due_at);
        CREATE INDEX rechecks_returned ON rechecks (returned_at) WHERE returned_at IS NOT NULL;

        -- Ids by which stores know the user, found in other stores.
        CREATE TABLE found_keys (
          id         INTEGER PRIMARY KEY,
          request_id BLOB NOT NULL CHECK (length(request_id) = 16),
          store      TEXT NOT NULL,  -- the store that names the ids
          name       TEXT NOT NULL,
          key_id     TEXT NOT NULL,  -- the vault key of sealed_ids
          own_key    BLOB NOT NULL CHECK (length(own_key) = 32),  -- of this row alone
          sealed_ids BLOB NOT NULL,
          hashes     BLOB CHECK (length(hashes) % 32 = 0),  -- of the ids, for their tombstones
          is_late    INTEGER NOT NULL CHECK (is_late = 0 OR is_late = 1)  -- found by a replay
        ) STRICT;
        CREATE INDEX found_keys_request ON found_keys (request_id, store, name);
        CREATE INDEX found_keys_key ON found_keys (key_id);
        CREATE INDEX found_keys_late ON found_keys (request_id) WHERE is_late = 1;

        -- What a replay is about to erase again; the commit that records the outcome deletes it.
        CREATE TABLE begun_replays (
          store      TEXT NOT NULL,
          request_id BLOB NOT NULL CHECK (length(request_id) = 16),
          hash       BLOB NOT NULL CHECK (length(hash) = 32 OR length(hash) = 0),
          PRIMARY KEY (store, request_id, hash)
        ) STRICT, WITHOUT ROWID;
        """

    /// Rows of the ledger are added, and never changed or removed.
    static let ledger = """
        CREATE TABLE ledger (
          first  INTEGER PRIMARY KEY CHECK (first >= 0),  -- the index of its first leaf
          count  INTEGER NOT NULL CHECK (count > 0),
          leaves BLOB NOT NULL                            -- of one commit, a newline between two
        ) STRICT;

        -- Roots of complete subtrees from LeafHashes.storedLevel up.
        CREATE TABLE ledger_nodes (
          level    INTEGER NOT NULL,
          position INTEGER NOT NULL,
          hash     BLOB NOT NULL CHECK (length(hash) = 32),
          PRIMARY KEY (level, position)
        ) STRICT, WITHOUT ROWID;

        -- Each host signs a list of its own, in a file of its own.
        CREATE TABLE ledger_checkpoints (
          host    TEXT NOT NULL,     -- empty for the host of a file
          id      INTEGER NOT NULL,  -- 1, 2, 3 ... of this host
          size    INTEGER NOT NULL,  -- leaves that it covers
          note    TEXT NOT NULL,
          ends_at INTEGER NOT NULL,  -- length of the checkpoint file with it
          PRIMARY KEY (host, id)
        ) STRICT, WITHOUT ROWID;
        """

    static let ledgerTables = ["ledger", "ledger_nodes", "ledger_checkpoints"]
}
