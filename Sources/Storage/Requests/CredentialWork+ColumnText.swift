import Encoding
import Lifecycle

/// The credentials of a revocation: id, kind, step, flags, last live, last refresh, refusals.
///
/// Flags are `R` (has a revoke intent), `L` (was live), `P` (needs proof), `F` (is being
/// refreshed), `D` (is in doubt) and `E` (is of an earlier grant).
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
                lastLiveAt: try row.optional(4, row.time),
                lastRefreshAt: try row.optional(5, row.time),
                refusals: try row.optional(6, row.row).map { refusals in
                    let (status, error) = (
                        try refusals.optional(2, refusals.int),
                        try refusals.optional(3, refusals.text)
                    )
                    return RefusalCount(
                        count: try refusals.int(0),
                        lastAt: try refusals.time(1),
                        last: Refusal(status: status, error: error)
                    )
                }
            )
        }
    }
}

extension RefusalCount {
    fileprivate var json: JSONValue {
        .array([
            .int(count), .time(lastAt), last.status.map { .int($0) } ?? .null, .text(last.error),
        ])
    }
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
        return intent + rotation + (isOfEarlierGrant ? "E" : "")
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

extension VendorAnswer {
    /// Status, error and words.
    var columnText: String {
        ColumnText.encode([
            refusal.status.map { .int($0) } ?? .null, .text(refusal.error), .text(words),
        ])
    }

    init(columnText: String) throws {
        let values = try ColumnText(columnText, "answer")
        self.init(
            Refusal(
                status: try values.optional(0, values.int),
                error: try values.optional(1, values.text)
            ),
            words: try values.optional(2, values.text)
        )
    }
}
