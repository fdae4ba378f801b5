import GRDB
import Lifecycle

/// Where open requests stand: a phase, and why they are parked.
struct OpenKind {
    static let allSQL = """
        SELECT DISTINCT phase, park_reason FROM requests INDEXED BY requests_due
        WHERE ended_at IS NULL
        """

    let state: WireState
    let parkReason: ParkReason?
    private let phaseText: String
    private let reasonText: String?

    /// - Throws: ``StorageError`` of kind `malformed`.
    init(_ row: SQLRow) throws {
        state = try RequestRow.wireState(row, phase: 0, parkReason: 1)
        parkReason = try row.choiceOrNil(1, as: ParkReason.self)
        (phaseText, reasonText) = (row.text(0), row.textOrNil(1))
    }

    /// Counts the requests of each kind, in one pass over the index.
    ///
    /// - Returns: A number for each kind, and the oldest request of all.
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    static func count(
        _ kinds: [OpenKind],
        _ database: Database
    ) throws -> (counts: [Int], oldest: RequestID?) {
        guard !kinds.isEmpty else { return ([], nil) }
        let sums = kinds.indices.map {
            "sum(phase = ?\($0 * 2 + 1) AND park_reason IS ?\($0 * 2 + 2))"
        }
        let found = try database.all(
            """
            SELECT min(id), \(sums.joined(separator: ", "))
            FROM requests INDEXED BY requests_due WHERE ended_at IS NULL
            """,
            values: kinds.flatMap { [.text($0.phaseText), .text($0.reasonText)] }
        ) { row in
            (
                counts: kinds.indices.map { row.int(Int32($0 + 1)) },
                oldest: row.isNull(0) ? nil : try row.requestID(0)
            )
        }
        return found.first ?? ([], nil)
    }
}
