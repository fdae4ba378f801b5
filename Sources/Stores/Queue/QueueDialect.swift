import Encoding
import Engine

/// The statements of a queue for one kind of server; parameters are texts.
protocol QueueDialect: SendableMetatype {
    /// The version of the tables and the queue's id.
    static var meta: String { get }
    /// Table, column and type of each column.
    static var columns: String { get }
    /// How many triggers and rules are not ours.
    static var foreign: String { get }
    static var begin: String { get }
    /// Has the server pass on updates; `nil` when it cannot.
    static var listen: String? { get }
    /// The types of columns of text, and that of ids.
    static var textTypes: Set<String> { get }
    static var idType: String { get }

    static func name(_ table: SpoolTable) -> String
    /// A column of a row as text.
    static func text(_ column: String) -> String
    /// Submitted rows; the parameters are the first id, the last and how many.
    static func page(_ table: SpoolTable) -> String
    /// Locks rows; the parameter is ``list(_:)``.
    static func lock(_ table: SpoolTable) -> String
    static func list(_ ids: [Int64]) -> String
    /// Writes states; the parameter is JSON.
    static var show: String { get }
    static var scrub: String { get }
}

extension QueueDialect {
    static func lastID(_ table: SpoolTable) -> String {
        "SELECT \(text("max(id)")) FROM \(name(table)) WHERE state = 'submitted'"
    }

    /// The bytes of a row that we read.
    static func size(_ table: SpoolTable) -> String {
        table.inputColumns.map { "coalesce(octet_length(\($0)), 0)" }.joined(separator: " + ")
    }

    /// The columns of a row, without the values of one that is too large.
    static func selection(_ table: SpoolTable, size: String) -> String {
        let request = table == .requests ? "request_id" : "NULL"
        let cells = table.inputColumns.map {
            "CASE WHEN \(size) <= \(QueueServerLimits.rowBytes) THEN \(text($0)) END"
        }
        return
            ([text("id"), text("state"), request] + cells
            + ["CASE WHEN \(size) > \(QueueServerLimits.rowBytes) THEN '1' ELSE '0' END"])
            .joined(separator: ", ")
    }

    /// The columns that each table must have.
    static func required(_ table: SpoolTable) -> [String] {
        let output = table == .requests ? ["request_id", "updated_at"] : []
        return table.inputColumns + ["state", "detail"] + output
    }

    /// Reads ``selection(_:size:)``; `nil` for a row that is none.
    static func row(_ values: [String?]) -> (row: QueueRow, isOversized: Bool)? {
        guard values.count > 4, let id = values[0].flatMap({ Int64($0) }), let state = values[1]
        else { return nil }
        let row = QueueRow(
            id: id,
            cells: Array(values[3..<values.count - 1]),
            state: state,
            requestID: values[2]
        )
        return (row, values[values.count - 1] == "1")
    }

    /// The statements that write the changes, each with its parameter.
    static func writes(_ changes: [QueueChange]) -> [(sql: String, json: String)] {
        var shown: [JSONValue] = []
        var scrubbed: [JSONValue] = []
        for change in changes {
            switch change {
            case .show(let id, let request, let state, let detail, let updatedAt, let isErased):
                shown.append([
                    "id": .integer(id), "request_id": request.map { .string($0) },
                    "state": .string(state), "detail": detail.map { .string($0) },
                    "updated_at": updatedAt.map { .string($0) },
                    "erased": .integer(isErased ? 1 : 0),
                ])
            case .scrub(let id, let state, let detail):
                scrubbed.append([
                    "id": .integer(id), "state": .string(state),
                    "detail": detail.map { .string($0) },
                ])
            }
        }
        return [(show, shown), (scrub, scrubbed)].filter { !$0.1.isEmpty }
            .map { ($0.0, JSONValue.array($0.1).compactText) }
    }
}

/// One session at the server of a queue, which belongs to one thread at a time.
protocol QueueSession: SQLSession, SendableMetatype {
    associatedtype Queue: QueueDialect

    /// Runs a statement with parameters as text and answers its rows as text.
    func texts(_ sql: String, _ values: [String?]) throws(SQLError) -> [[String?]]

    /// Waits for an update of the server.
    ///
    /// - Returns: `false` when none came in time.
    func awaitNotification(within time: Duration) throws(SQLError) -> Bool
}

/// Bounds of a queue's statements, each with its reason.
enum QueueServerLimits {
    /// The schema allows less than 40 KiB.
    static let rowBytes = 65_536
    /// Bytes of one page, so that hostile rows do not fill the memory.
    static let pageBytes = 4 << 20
    /// The tables that we know.
    static let version = 1
    static let idLength = 1...64
}
