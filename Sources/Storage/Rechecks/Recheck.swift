import GRDB
package import Lifecycle

/// The next recheck of a completed deletion.
package struct RecheckOutlook: Hashable, Sendable {
    package let dueAt: WallTime
    /// Since when data is known to be in a store again; `nil` while none is.
    package let returnedAt: WallTime?

    static func find(_ id: RequestID, _ database: Database) throws -> RecheckOutlook? {
        try database.first(
            "SELECT due_at, returned_at FROM rechecks WHERE request_id = ?",
            [.id(id)]
        ) { RecheckOutlook(dueAt: $0.time("due_at"), returnedAt: $0.timeOrNil("returned_at")) }
    }
}

/// Re-checks as lines: `1767225600000 returned app-db=3 -old-db`.
///
/// The names are those of the configuration: letters, digits and `-`, a letter first.
enum RecheckText {
    /// As many as a month of daily rechecks of data that stays; the first ones go.
    static let countMax = 32

    static func encode(_ rechecks: [Recheck]) -> String {
        rechecks.suffix(countMax).map { recheck in
            let words =
                ["\(recheck.at.unixMilliseconds)", recheck.outcome.rawValue]
                + recheck.found.map { "\($0.target)=\($0.rowCount)" }
                + recheck.missing.map { "-\($0)" }
            return words.joined(separator: " ")
        }.joined(separator: "\n")
    }

    static func decode(_ text: String?) throws -> [Recheck] {
        try (text ?? "").split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            guard words.count >= 2, let time = Int64(words[0]),
                let outcome = Recheck.Outcome(rawValue: String(words[1]))
            else { throw StorageError.malformed("rechecks") }
            var recheck = Recheck(at: WallTime(unixMilliseconds: time), outcome)
            for word in words.dropFirst(2) {
                if word.hasPrefix("-") {
                    recheck.missing.append(TargetName(String(word.dropFirst())))
                    continue
                }
                let parts = word.split(separator: "=")
                guard parts.count == 2, let count = Int(parts[1]) else {
                    throw StorageError.malformed("rechecks")
                }
                recheck.found.append(
                    Recheck.Found(target: TargetName(String(parts[0])), rowCount: count)
                )
            }
            return recheck
        }
    }
}
