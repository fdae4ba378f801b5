import GRDB
package import Lifecycle

/// One look at the stores of a completed deletion.
package struct Recheck: Hashable, Sendable {
    /// What it brought.
    package enum Outcome: String, Sendable, CaseIterable {
        /// Nothing of the user is there.
        case clean
        /// Data came back.
        case returned
        /// None of its stores can be asked any more, or not one that had data again.
        case unverified
        /// Its vault key is lost, or its bits are damaged: nobody can look again.
        case unreadable
        /// An operator decided not to look again.
        case abandoned
    }

    /// What was found in one store.
    package struct Found: Hashable, Sendable {
        package let target: TargetName
        /// Rows, objects or whatever the store counts.
        package let rowCount: Int

        package init(target: TargetName, rowCount: Int) {
            self.target = target
            self.rowCount = rowCount
        }
    }

    package let at: WallTime
    package let outcome: Outcome
    package var found: [Found]
    /// Stores that cannot be asked: not configured any more, or without the ids that they know.
    package var missing: [TargetName]

    package init(
        at: WallTime,
        _ outcome: Outcome,
        found: [Found] = [],
        missing: [TargetName] = []
    ) {
        self.at = at
        self.outcome = outcome
        self.found = found
        self.missing = missing
    }
}

/// When the stores of a completed deletion are looked at next.
package struct RecheckOutlook: Hashable, Sendable {
    package let dueAt: WallTime
    /// Since when data is known to be back; `nil` while none is.
    package let returnedAt: WallTime?

    static func find(_ id: RequestID, _ database: Database) throws -> RecheckOutlook? {
        try database.first(
            "SELECT due_at, returned_at FROM rechecks WHERE request_id = ?",
            .id(id.value)
        ) { RecheckOutlook(dueAt: $0.time(0), returnedAt: $0.timeOrNil(1)) }
    }
}

/// Re-checks as lines: `1767225600000 returned app-db=3 -old-db`.
///
/// The names are those of the configuration: letters, digits and `-`, a letter first.
enum RecheckText {
    /// As many as a month of daily looks at data that stays; the first ones go.
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

    /// - Throws: ``StorageError`` of kind `malformed`.
    static func decode(_ text: String?) throws -> [Recheck] {
        try (text ?? "").split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            guard words.count >= 2, let time = Int64(words[0]),
                let outcome = Recheck.Outcome(rawValue: String(words[1]))
            else { throw SQLRow.malformed("rechecks") }
            var recheck = Recheck(at: WallTime(unixMilliseconds: time), outcome)
            for word in words.dropFirst(2) {
                if word.hasPrefix("-") {
                    recheck.missing.append(TargetName(String(word.dropFirst())))
                    continue
                }
                let parts = word.split(separator: "=")
                guard parts.count == 2, let count = Int(parts[1]) else {
                    throw SQLRow.malformed("rechecks")
                }
                recheck.found.append(
                    Recheck.Found(target: TargetName(String(parts[0])), rowCount: count)
                )
            }
            return recheck
        }
    }
}
