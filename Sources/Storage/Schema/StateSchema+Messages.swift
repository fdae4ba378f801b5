extension StateSchema {
    /// What the service sends on its own: messages, who gets them, and addresses of users.
    ///
    /// Triggers write a message in the commit of the change that it reports. So no path that
    /// changes a request can forget one, and a crash loses none.
    static let messages = """
        CREATE TABLE subscribers (
          name           TEXT PRIMARY KEY,
          wants_requests INTEGER NOT NULL,
          wants_alarms   INTEGER NOT NULL,
          waiting        INTEGER NOT NULL DEFAULT 0 CHECK (waiting >= 0),
          dropped        INTEGER NOT NULL DEFAULT 0  -- for want of room, since it was configured
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE messages (
          sequence     INTEGER PRIMARY KEY AUTOINCREMENT,
          nonce        BLOB NOT NULL DEFAULT (randomblob(8)),  -- part of the id of the message
          subscriber   TEXT NOT NULL,
          topic        TEXT NOT NULL
            CHECK (topic = 'request' OR topic = 'alarm' OR topic = 'confirmation'),
          kind         TEXT NOT NULL,     -- of the request; severity of an alarm
          subject      TEXT NOT NULL,     -- state of the request; event of an alarm
          detail       TEXT,              -- reason of the state; sentence of an alarm
          request_id   BLOB,
          occurred_at  INTEGER NOT NULL,
          due_at       INTEGER,           -- of the next attempt; NULL after the last one
          begun_at     INTEGER NOT NULL,  -- when it was queued, or queued again
          attempts     INTEGER NOT NULL DEFAULT 0,
          attempted_at INTEGER,
          status       INTEGER,           -- the last answer's HTTP status
          last_failure TEXT,
          is_delivered INTEGER NOT NULL DEFAULT 0,
          CHECK (due_at IS NULL OR is_delivered = 0)
        ) STRICT;
        CREATE INDEX messages_due ON messages (subscriber, due_at) WHERE due_at IS NOT NULL;
        CREATE INDEX messages_ended ON messages (sequence) WHERE due_at IS NULL;
        CREATE INDEX messages_confirmation ON messages (request_id) WHERE topic = 'confirmation';

        -- Where a user wants the confirmation; deleting a row destroys its key.
        CREATE TABLE addresses (
          request_id BLOB PRIMARY KEY CHECK (length(request_id) = 16),
          seal_id    BLOB NOT NULL CHECK (length(seal_id) = 16),
          key_id     TEXT NOT NULL,  -- the vault key of sealed
          own_key    BLOB NOT NULL CHECK (length(own_key) = 32),  -- of this row alone
          sealed     BLOB NOT NULL,
          language   TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX addresses_key ON addresses (key_id);
        """

    /// Messages a subscriber may have waiting: 15 MiB of `state.db`.
    static let waitingMessagesMax = 100_000
}
