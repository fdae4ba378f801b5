/// The tables of the ledger: rows are added, and never changed or removed.
///
/// A row of `ledger` holds the leaves of one commit. `ledger_nodes` holds the roots of complete
/// subtrees from ``leafLevel`` up, so that a proof reads some hundred leaves and not all;
/// `ledger_checkpoints` says where in the checkpoint file each note ends. The
/// triggers keep our own mistakes out; what goes around them is found by the checkpoints.
enum LedgerSchema {
    /// Subtrees of fewer leaves are hashed anew when they are needed.
    static let leafLevel = 8

    static let tables = """
        CREATE TABLE ledger (
          first  INTEGER PRIMARY KEY CHECK (first >= 0),
          count  INTEGER NOT NULL CHECK (count > 0),
          leaves BLOB NOT NULL
        ) STRICT;
        CREATE TABLE ledger_nodes (
          level    INTEGER NOT NULL,
          position INTEGER NOT NULL,
          hash     BLOB NOT NULL CHECK (length(hash) = 32),
          PRIMARY KEY (level, position)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE ledger_checkpoints (
          id   INTEGER PRIMARY KEY,
          size INTEGER NOT NULL,
          note TEXT NOT NULL,
          ends_at INTEGER NOT NULL
        ) STRICT;
        CREATE TRIGGER ledger_follows BEFORE INSERT ON ledger
          WHEN NEW.first <>
            ifnull((SELECT first + count FROM ledger ORDER BY first DESC LIMIT 1), 0)
          BEGIN SELECT RAISE(ABORT, 'the ledger has no gaps'); END;
        \(["ledger", "ledger_nodes", "ledger_checkpoints"].map(guards).joined(separator: "\n"))
        ALTER TABLE requests ADD COLUMN leaves TEXT NOT NULL DEFAULT '';
        """

    private static func guards(_ table: String) -> String {
        """
        CREATE TRIGGER \(table)_keeps BEFORE DELETE ON \(table)
          BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
        CREATE TRIGGER \(table)_stays BEFORE UPDATE ON \(table)
          BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
        """
    }
}
