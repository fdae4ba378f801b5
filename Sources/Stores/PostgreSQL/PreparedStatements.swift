/// The statements that a session has prepared.
///
/// One that comes once costs a round trip less unprepared.
struct PreparedStatements {
    enum Use: Equatable {
        case once
        /// To be prepared under that name.
        case prepare(String)
        case known(String)
    }

    /// More than the rules of a large schema need; the server keeps some kilobytes for each.
    private static let countMax = 500

    private var names: [String: String] = [:]
    private var seen: Set<String> = []
    private var lastNumber = 0

    mutating func use(_ sql: String) -> Use {
        if let name = names[sql] { return .known(name) }
        guard !seen.insert(sql).inserted, names.count < Self.countMax else {
            // Holds are literals, so each of them makes statements of its own.
            if seen.count > Self.countMax { seen.removeAll() }
            return .once
        }
        lastNumber += 1
        return .prepare("s\(lastNumber)")
    }

    mutating func keep(_ name: String, for sql: String) { names[sql] = name }

    mutating func forget() {
        names = [:]
        seen = []
    }
}
