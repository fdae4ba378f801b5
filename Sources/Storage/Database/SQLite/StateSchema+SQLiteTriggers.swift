import GRDB

extension StateSchema {
    /// What only SQLite has, and what its triggers hold.
    static let triggers = [scratch, oneDeletion, ledgerTriggers, messageTriggers]

    /// Makes triggers anew that were dropped.
    static func createTriggers(_ database: Database) throws {
        for text in triggers where text != scratch { try database.execute(sql: text) }
    }

    private static let scratch = """
        -- Empty but while the writer overwrites its scratch pages.
        CREATE TABLE scratch (id INTEGER PRIMARY KEY, zeros BLOB NOT NULL) STRICT;
        """

    /// A user has at most one open `delete_account`.
    ///
    /// A trigger holds that and not a unique index: an index on a hash dirties a page of its own
    /// with each row, a quarter of all pages.
    private static let oneDeletion = """
        CREATE TRIGGER requests_one_deletion BEFORE INSERT ON requests WHEN NEW.slot = x''
        BEGIN
          SELECT RAISE (ABORT, 'the user has an open delete_account') WHERE EXISTS
            (SELECT 1 FROM requests WHERE user_hash = NEW.user_hash AND slot = x'');
        END;
        """

    /// The triggers keep our own mistakes out; the checkpoints reveal what goes around them.
    private static let ledgerTriggers = """
        CREATE TRIGGER ledger_follows BEFORE INSERT ON ledger
          WHEN NEW.first <>
            ifnull((SELECT first + count FROM ledger ORDER BY first DESC LIMIT 1), 0)
          BEGIN SELECT RAISE(ABORT, 'the ledger has no gaps'); END;
        \(ledgerTables.map(guards).joined(separator: "\n"))
        """

    private static func guards(_ table: String) -> String {
        """
        CREATE TRIGGER \(table)_keeps BEFORE DELETE ON \(table)
          BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
        CREATE TRIGGER \(table)_stays BEFORE UPDATE ON \(table)
          BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
        """
    }

    /// Counts and destroys by themselves, whatever writes the tables above.
    private static let messageTriggers = """
        CREATE TRIGGER messages_in AFTER INSERT ON messages WHEN NEW.due_at IS NOT NULL
        BEGIN \(countMessage) END;
        CREATE TRIGGER messages_again AFTER UPDATE OF due_at ON messages
          WHEN OLD.due_at IS NULL AND NEW.due_at IS NOT NULL
        BEGIN \(countMessage) END;
        CREATE TRIGGER messages_over AFTER UPDATE OF due_at ON messages
          WHEN OLD.due_at IS NOT NULL AND NEW.due_at IS NULL
        BEGIN \(endMessage) END;

        CREATE TRIGGER requests_message_in AFTER INSERT ON requests
          WHEN EXISTS (SELECT 1 FROM subscribers WHERE wants_requests = 1)
        BEGIN \(queueMessage) END;
        CREATE TRIGGER requests_message AFTER UPDATE OF phase, park_reason ON requests
          WHEN (NEW.phase IS NOT OLD.phase OR NEW.park_reason IS NOT OLD.park_reason)
            AND EXISTS (SELECT 1 FROM subscribers WHERE wants_requests = 1)
        BEGIN \(queueMessage) END;
        CREATE TRIGGER requests_confirmation AFTER UPDATE OF ended_at ON requests
          WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
            AND EXISTS (SELECT 1 FROM addresses WHERE request_id = NEW.id)
        BEGIN \(queueConfirmation) END;
        """
}
