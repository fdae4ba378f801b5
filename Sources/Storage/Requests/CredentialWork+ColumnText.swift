import Encoding
import Lifecycle

/// The credentials of a revocation: id, kind, step, flags, last live, last refresh, refusals.
///
/// Flags are `R` (has a revoke intent), `L` (was live), `P` (needs proof), `F` (is being
/// refreshed), `D` (is in doubt), `E` (is of an earlier grant) and `U` (is unnamed).
extension [CredentialWork] {
    var columnText: String {
        ColumnText.encode { writer in
            for work in self {
                writer.array {
                    $0.integer(work.id.rowID)
                    $0.string(work.kind.rawValue)
                    $0.string(work.step.rawValue)
                    $0.string(work.flags)
                    $0.integer(work.lastLiveAt?.unixMilliseconds)
                    $0.integer(work.lastRefreshAt?.unixMilliseconds)
                    $0.value(work.refusals?.json ?? .null)
                }
            }
        }
    }

    init(columnText: String) throws {
        self = try ColumnText(columnText, "credentials").rows().map { row in
            let flags = try row.text(3)
            return CredentialWork(
                id: CredentialID(rowID: try row.int64(0)),
                kind: try row.choice(1, as: CredentialKind.self),
                step: try row.choice(2, as: CredentialStep.self),
                intent: RevokeIntent(flags),
                rotation: TokenRotation(flags),
                isOfEarlierGrant: flags.contains("E"),
                isUnnamed: flags.contains("U"),
                lastLiveAt: try row.optional(4, row.time),
                lastRefreshAt: try row.optional(5, row.time),
                refusals: try row.optional(6, row.row).map { refusals in
                    RefusalCount(
                        count: try refusals.int(0),
                        lastAt: try refusals.time(1),
                        last: try Refusal(refusals, at: 2)
                    )
                }
            )
        }
    }
}

extension RefusalCount {
    fileprivate var json: JSONValue { .array([.int(count), .time(lastAt)] + last.values) }
}

extension CredentialWork {
    fileprivate var flags: String {
        let intent =
            switch intent {
            case .none: ""
            case .durable(let wasLive): wasLive ? "RL" : "R"
            case .contradicted(let wasLive): wasLive ? "RLP" : "RP"
            }
        let rotation =
            switch rotation {
            case .settled: ""
            case .underWay(let isInDoubt): isInDoubt ? "FD" : "F"
            case .inDoubt: "D"
            }
        return intent + rotation + (isOfEarlierGrant ? "E" : "") + (isUnnamed ? "U" : "")
    }
}

extension RevokeIntent {
    fileprivate init(_ flags: String) {
        let wasLive = flags.contains("L")
        self =
            flags.contains("P")
            ? .contradicted(wasLive: wasLive)
            : flags.contains("R") ? .durable(wasLive: wasLive) : .none
    }
}

extension TokenRotation {
    fileprivate init(_ flags: String) {
        let isInDoubt = flags.contains("D")
        self =
            flags.contains("F")
            ? .underWay(isInDoubt: isInDoubt) : isInDoubt ? .inDoubt : .settled
    }
}

extension Refusal {
    var columnText: String { ColumnText.encode(values) }

    init(columnText: String) throws { try self.init(ColumnText(columnText, "answer"), at: 0) }

    /// Status and error.
    fileprivate var values: [JSONValue] { [status.map { .int($0) } ?? .null, .text(error)] }

    fileprivate init(_ text: ColumnText, at index: Int) throws {
        self.init(
            status: try text.optional(index, text.int),
            error: try text.optional(index + 1, text.text)
        )
    }
}

extension VendorAnswer {
    var columnText: String { ColumnText.encode(refusal.values + [.text(words), .bool(isNamed)]) }

    init(columnText: String) throws {
        let text = try ColumnText(columnText, "answer")
        self.init(
            try Refusal(text, at: 0),
            words: try text.optional(2, text.text),
            isNamed: try text.bool(3)
        )
    }
}
