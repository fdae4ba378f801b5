/// What the triggers of SQLite hold (`StateSchema+SQLiteTriggers`), in the words of PostgreSQL.
extension StateSchema {
    static var postgreSQLTriggers: [String] {
        [oneDeletion, ledgerFollows, ledgerKeeps] + ledgerTriggers + messageFunctions
            + messageTriggers
    }

    /// A user has at most one open `delete_account`, whichever host accepts it.
    private static let oneDeletion = """
        CREATE UNIQUE INDEX requests_one_deletion ON requests (user_hash) WHERE slot = ''::bytea
        """

    private static let ledgerFollows = """
        CREATE FUNCTION ledger_follows () RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF NEW.first <> coalesce(
            (SELECT first + count FROM ledger ORDER BY first DESC LIMIT 1), 0) THEN
            RAISE EXCEPTION 'the ledger has no gaps'
              USING ERRCODE = 'integrity_constraint_violation';
          END IF;
          RETURN NEW;
        END $$
        """

    private static let ledgerKeeps = """
        CREATE FUNCTION ledger_keeps () RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION 'the ledger is append-only'
            USING ERRCODE = 'integrity_constraint_violation';
        END $$
        """

    private static var ledgerTriggers: [String] {
        [
            """
            CREATE TRIGGER ledger_follows BEFORE INSERT ON ledger
              FOR EACH ROW EXECUTE FUNCTION ledger_follows ()
            """
        ]
            + ledgerTables.map { table in
                """
                CREATE TRIGGER \(table)_keeps BEFORE DELETE OR UPDATE ON \(table)
                  FOR EACH ROW EXECUTE FUNCTION ledger_keeps ()
                """
            }
    }

    private static let messageFunctions = [
        """
        CREATE FUNCTION messages_in () RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          \(countMessage)
          RETURN NULL;
        END $$
        """,
        """
        CREATE FUNCTION messages_over () RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          \(endMessage)
          RETURN NULL;
        END $$
        """,
        """
        CREATE FUNCTION requests_message () RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF NOT EXISTS (SELECT 1 FROM subscribers WHERE wants_requests = 1) THEN
            RETURN NULL;
          END IF;
          \(queueMessage)
          RETURN NULL;
        END $$
        """,
        """
        CREATE FUNCTION requests_confirmation () RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF NOT EXISTS (SELECT 1 FROM addresses WHERE request_id = NEW.id) THEN
            RETURN NULL;
          END IF;
          \(queueConfirmation)
          RETURN NULL;
        END $$
        """,
    ]

    private static let messageTriggers = [
        """
        CREATE TRIGGER messages_in AFTER INSERT ON messages FOR EACH ROW
          WHEN (NEW.due_at IS NOT NULL) EXECUTE FUNCTION messages_in ()
        """,
        """
        CREATE TRIGGER messages_again AFTER UPDATE OF due_at ON messages FOR EACH ROW
          WHEN (OLD.due_at IS NULL AND NEW.due_at IS NOT NULL) EXECUTE FUNCTION messages_in ()
        """,
        """
        CREATE TRIGGER messages_over AFTER UPDATE OF due_at ON messages FOR EACH ROW
          WHEN (OLD.due_at IS NOT NULL AND NEW.due_at IS NULL) EXECUTE FUNCTION messages_over ()
        """,
        """
        CREATE TRIGGER requests_message_in AFTER INSERT ON requests FOR EACH ROW
          EXECUTE FUNCTION requests_message ()
        """,
        """
        CREATE TRIGGER requests_message AFTER UPDATE OF phase, park_reason ON requests FOR EACH ROW
          WHEN (NEW.phase IS DISTINCT FROM OLD.phase
            OR NEW.park_reason IS DISTINCT FROM OLD.park_reason)
          EXECUTE FUNCTION requests_message ()
        """,
        """
        CREATE TRIGGER requests_confirmation AFTER UPDATE OF ended_at ON requests FOR EACH ROW
          WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
          EXECUTE FUNCTION requests_confirmation ()
        """,
    ]
}
