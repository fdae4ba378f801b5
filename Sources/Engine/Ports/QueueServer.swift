/// The tables of a spool and of a queue.
package enum SpoolTable: String, Hashable, Sendable, CaseIterable {
    case credentials, requests

    /// What the application writes; the output columns are never read back.
    package var inputColumns: [String] {
        switch self {
        case .requests: Self.requestColumns
        case .credentials: Self.credentialColumns
        }
    }

    // Made once: every row needs them.
    private static let requestColumns = [
        "kind", "user_id", "idempotency_key", "options", "created_at",
    ]
    private static let credentialColumns = [
        "user_id", "provider", "client_id", "subject", "kind", "secret", "redirect_uri",
        "code_verifier", "raw_nonce", "created_at",
    ]
}

/// A row of a queue as its database has it: nothing about it is believed.
package struct QueueRow: Sendable {
    package let id: Int64
    /// In the order of ``SpoolTable/inputColumns``; `nil` for NULL.
    package let cells: [String?]
    package let state: String
    /// The request that the row shows; `nil` for a credential.
    package let requestID: String?

    package init(id: Int64, cells: [String?], state: String, requestID: String?) {
        (self.id, self.cells, self.state, self.requestID) = (id, cells, state, requestID)
    }
}

/// The next submitted rows of a table.
package struct QueuePage: Sendable {
    /// In the order of their ids.
    package let rows: [QueueRow]
    /// Rows that are too large to be read.
    package let oversizedCount: Int
    /// The last id that was looked at; `nil` when no row is left.
    package let lastID: Int64?

    package init(rows: [QueueRow], oversizedCount: Int, lastID: Int64?) {
        (self.rows, self.oversizedCount, self.lastID) = (rows, oversizedCount, lastID)
    }
}

/// What is written into a row of a queue.
package enum QueueChange: Hashable, Sendable {
    /// Shows the state of a request; `isErased` takes user id, key and options out of the row.
    case show(
        id: Int64,
        request: String?,
        state: String,
        detail: String?,
        updatedAt: String?,
        isErased: Bool
    )
    /// Shows what became of a credential, and takes its secrets and the user out of the row.
    case scrub(id: Int64, state: String, detail: String?)
}

/// What a queue says of itself.
package struct QueueFacts: Hashable, Sendable {
    /// Random, made with the tables; 1 to 64 characters.
    package let id: String
    /// Triggers and rules that are not ours.
    package let foreignCount: Int

    package init(id: String, foreignCount: Int) {
        (self.id, self.foreignCount) = (id, foreignCount)
    }
}

/// Why a spool or a queue cannot be used, or not be written.
package enum SpoolFailure: String, Error, Hashable, Sendable, CaseIterable {
    case missing
    /// A journal that names another file, a symbolic link, or something that is no regular file.
    case refused
    /// An application has switched the file to WAL and keeps it open.
    case inWAL = "in_wal"
    /// An application left a larger WAL than the service copies back.
    case largeWAL = "large_wal"
    /// Not a database, or a damaged one.
    case corrupt
    /// The tables are missing, or others than the documented ones.
    case wrongSchema = "wrong_schema"
    case newerVersion = "newer_version"
    /// The file, its directory or its journal cannot be opened.
    case unopenable
    case readOnly = "read_only"
    case diskFull = "disk_full"
    /// Of a queue: the server lacks space or memory.
    case ioError = "io_error"
    /// A lock was not free in time.
    case locked
    /// A read, a write or a statement took too long.
    case slow
    /// No connection, or it broke; a transaction may have been committed.
    case unreachable
    /// The certificate of a queue's server is not good enough.
    case tls
    /// The log-in failed, or the role lacks a privilege.
    case denied
    /// The credential cannot be read, or is no connection string.
    case badCredential = "bad_credential"
}

/// What the wait for a change of a queue ended with.
package enum QueueWait: Hashable, Sendable {
    case changed
    /// Nothing happened for the given time.
    case quiet
    case failed
}

/// A queue in a database of the application.
///
/// No call takes longer than some seconds. A failed call may have had its effect.
package protocol QueueServer: Sendable {
    /// Connects and compares the tables with the documented ones; again after a failure.
    func open() async throws(SpoolFailure) -> QueueFacts

    func close() async

    /// The highest id of the rows that wait; `nil` when none does.
    func lastID(of table: SpoolTable) async throws(SpoolFailure) -> Int64?

    /// At most `limit` submitted rows of an id in `range`, and at most some megabytes.
    func page(
        of table: SpoolTable,
        in range: ClosedRange<Int64>,
        limit: Int
    ) async throws(SpoolFailure) -> QueuePage

    /// Locks rows, has `decide` choose what is written into them, and commits that.
    func change<Value: Sendable>(
        _ table: SpoolTable,
        rows ids: [Int64],
        _ decide: @escaping @Sendable ([QueueRow]) -> ([QueueChange], Value)
    ) async throws(SpoolFailure) -> Value

    /// Waits until an application has committed rows, for at most `time`; ends early in a cancelled
    /// task. A change between two calls ends the next one.
    func awaitChange(within time: Duration) async -> QueueWait
}

/// Which intake a row of ``SpoolRow`` came through.
package enum SpoolSource: Hashable, Sendable {
    case file
    case queue(String)

    /// What ids of queues' rows begin with.
    package static let mark = "queue:"

    /// By what is before the second colon; ids of files have no colon.
    package init(spoolID: String) {
        let parts = spoolID.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        self = parts.count == 3 && parts[0] == "queue" ? .queue(String(parts[1])) : .file
    }

    /// The id of a queue's rows: its configured name, without a colon, and what the tables say.
    package static func spoolID(queue name: String, id: String) -> String {
        prefix(queue: name) + id
    }

    package static func prefix(queue name: String) -> String { mark + name + ":" }

    /// The id of a file's rows where several hosts have one: the host's name, without a colon, and
    /// what the file says.
    package static func spoolID(host name: String, id: String) -> String {
        prefix(host: name) + id
    }

    package static func prefix(host name: String) -> String { "host:" + name + ":" }
}

extension SpoolRow {
    package var source: SpoolSource { SpoolSource(spoolID: spoolID) }
}
