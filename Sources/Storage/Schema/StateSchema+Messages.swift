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

/// What the triggers of each database run.
extension StateSchema {
    static let countMessage =
        "UPDATE subscribers SET waiting = waiting + 1 WHERE name = NEW.subscriber;"

    static let endMessage = """
        UPDATE subscribers SET waiting = waiting - 1 WHERE name = NEW.subscriber;
        DELETE FROM addresses WHERE NEW.topic = 'confirmation' AND request_id = NEW.request_id;
        """

    static let queueMessage = """
        UPDATE subscribers SET dropped = dropped + 1
          WHERE wants_requests = 1 AND waiting >= \(waitingMessagesMax);
        \(MessageColumn.queue)
          SELECT name, 'request', NEW.kind,
            CASE WHEN NEW.park_reason IS NULL THEN NEW.phase ELSE 'parked' END,
            coalesce(NEW.park_reason, NEW.end_detail), NEW.id, NEW.updated_at, NEW.updated_at,
            NEW.updated_at
          FROM subscribers WHERE wants_requests = 1 AND waiting < \(waitingMessagesMax);
        """

    static let queueConfirmation = """
        \(MessageColumn.queue)
          SELECT name, 'confirmation', NEW.kind, NEW.phase, NULL, NEW.id, NEW.updated_at,
            NEW.updated_at, NEW.updated_at
          FROM subscribers WHERE name = 'mail' AND NEW.phase = 'completed'
            AND waiting < \(waitingMessagesMax);
        DELETE FROM addresses WHERE request_id = NEW.id AND NOT EXISTS
          (SELECT 1 FROM messages WHERE request_id = NEW.id AND topic = 'confirmation');
        """
}
