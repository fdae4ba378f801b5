import Encoding
import Engine
import Lifecycle

/// Such as `["cancel","0197…"]`: the operation, what it is for, then its own values.
extension OperationRow.Work {
    private static let learnText = "learn"

    /// - Throws: ``StorageError`` of kind `malformed` for an event that no operator causes.
    var columnText: String {
        get throws {
            switch self {
            case .learn(let identity, let userHash):
                ColumnText.encode([
                    .string(Self.learnText), .string(identity.description),
                    .string(Hexadecimal.text(userHash)),
                ])
            case .operate(let id, let event):
                ColumnText.encode(
                    [.string(try Self.name(of: event)), .string(id.description)]
                        + Self.values(of: event)
                )
            }
        }
    }

    private static func name(of event: RequestEvent) throws -> String {
        if let name = plain.first(where: { $0.value == event })?.key { return name }
        switch event {
        case .approve: return "approve"
        case .restored: return "restored"
        default: throw StorageError.malformed("operation")
        }
    }

    /// Events without values.
    private static let plain: [String: RequestEvent] = [
        "due": .due, "absorbed": .absorbed, "hold": .hold, "release": .release, "retry": .retry,
        "cancel": .cancel, "abandon": .abandon, "quarantine": .quarantine,
    ]

    private static func values(of event: RequestEvent) -> [JSONValue] {
        switch event {
        case .approve(let hash, let uid): [.string(hash), .integer(Int64(uid))]
        case .restored(let stores, let time):
            [.time(time)] + stores.map(\.rawValue).sorted().map { .string($0) }
        default: []
        }
    }

    /// - Throws: ``StorageError`` of kind `malformed`.
    init(columnText: String) throws {
        let text = try ColumnText(columnText, "work")
        guard try text.text(0) != Self.learnText else {
            guard let identity = IdentityID(try text.text(1)),
                let userHash = Hexadecimal.decode(try text.text(2).utf8)
            else { throw StorageError.malformed("work") }
            self = .learn(identity, of: userHash)
            return
        }
        guard let id = RequestID(try text.text(1)) else { throw StorageError.malformed("work") }
        self = .operate(id, try Self.event(text))
    }

    private static func event(_ text: ColumnText) throws -> RequestEvent {
        let name = try text.text(0)
        if let event = plain[name] { return event }
        switch name {
        case "approve":
            return .approve(try text.text(2), by: UInt32(truncatingIfNeeded: try text.int64(3)))
        case "restored":
            let stores = try text.texts(from: 3).map { StoreName($0) }
            return .restored(Set(stores), at: try text.optional(2, text.time))
        default: throw StorageError.malformed("work")
        }
    }
}

extension OperationOutcome {
    private static let doneText = "done"
    private static let notOpenText = "not_open"

    var columnText: String {
        switch self {
        case .done: Self.doneText
        case .notOpen: Self.notOpenText
        case .refused(let refusal): refusal.rawValue
        }
    }

    /// - Throws: ``StorageError`` of kind `malformed`.
    init(columnText: String) throws {
        switch columnText {
        case Self.doneText: self = .done
        case Self.notOpenText: self = .notOpen
        default:
            guard let refusal = OperationRefusal(rawValue: columnText) else {
                throw StorageError.malformed("answer")
            }
            self = .refused(refusal)
        }
    }
}
