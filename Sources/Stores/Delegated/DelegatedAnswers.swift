import Encoding
import HTTP
import Lifecycle

/// What the answers of a program or service of the operator's own mean.
///
/// Names and texts go onto receipts, so they are bounded, printable, and do not hold the user id.
struct DelegatedAnswers {
    /// Entries, residual copies and problems of one answer.
    static let entriesMax = 64
    /// Characters of a name.
    static let nameMax = 128
    /// Characters of a sentence.
    static let textMax = 200
    /// A count beyond this is nonsense, and a sum of counts must not overflow.
    static let countMax = 1_000_000_000_000

    /// Ids of one answer of a listing; an answer of 64 KiB holds more only of very short ones.
    static let usersMax = 1000
    /// Bytes of what leads to the next ids.
    static let cursorMax = 1024

    /// A part of a listing.
    enum Listing {
        case page([UserID], next: String?)
        /// The question is not known.
        case unsupported
        case failure(EffectFailure)
    }

    /// `nil` where an answer is about no user.
    let user: UserID?

    func purge(_ json: JSONValue) -> PurgeAnswer {
        guard json["outcome"]?.string == "purged" else {
            return .failure(EffectFailure(ofObject: json))
        }
        guard let items = self.items(json["entries"]), let copies = list(json["residual_copies"])
        else {
            return .failure(.unusable)
        }
        var counts = PurgeCounts()
        for item in items {
            let (name, action) = (item.name, PurgeCounts.Action.rule(item.action))
            var entry = PurgeCounts.Entry(name: name, action: action, rowCount: item.count)
            entry.newerCount = item.newerCount
            counts.add(PurgeCounts(entries: [entry]))
        }
        for copy in copies {
            guard let text = self.text(copy["text"], max: Self.textMax) else {
                return .failure(.unusable)
            }
            let until = copy["until"]?.string.flatMap(WallTime.init(rfc3339:))
            guard until != nil || copy["until"] == nil else { return .failure(.unusable) }
            counts.note(PurgeCounts.ResidualCopies(text: text, until: until))
        }
        return .done(counts)
    }

    func verify(_ json: JSONValue) -> VerifyAnswer {
        switch json["outcome"]?.string {
        case "clean": .clean
        case "remaining":
            count(json["count"]).flatMap { $0 > 0 ? .remaining($0) : nil } ?? .failure(.unusable)
        default: .failure(EffectFailure(ofObject: json))
        }
    }

    /// Sorted, so that the approval does not depend on the order of a program's stores.
    func plan(_ json: JSONValue) -> PlanAnswer {
        switch json["outcome"]?.string {
        case "planned": break
        case "unsupported": return .unknown
        default: return .failure(EffectFailure(ofObject: json))
        }
        guard let items = self.items(json["entries"]) else { return .failure(.unusable) }
        return .items(items.sorted { Self.sortKey(of: $0) < Self.sortKey(of: $1) })
    }

    /// Any other answer comes from a program that does not know the question.
    func users(_ reply: ObjectReply) -> Listing {
        let json: JSONValue
        switch reply {
        case .failure(.unusable): return .unsupported
        case .failure(let failure): return .failure(failure)
        case .answer(let answer): json = answer
        }
        guard json["outcome"]?.string == "listed" else {
            let failure = EffectFailure(ofObject: json)
            return failure == .unusable ? .unsupported : .failure(failure)
        }
        guard let list = json["users"]?.array, list.count <= Self.usersMax else {
            return .failure(.unusable)
        }
        var users: [UserID] = []
        for value in list {
            guard let text = value.string else { return .failure(.unusable) }
            // No request can name another text.
            if let user = UserID(text) { users.append(user) }
        }
        switch json["next"] {
        case nil, .null: return .page(users, next: nil)
        case .string(let next) where (1...Self.cursorMax).contains(next.utf8.count):
            return .page(users, next: next)
        default: return .failure(.unusable)
        }
    }

    func diagnose(_ json: JSONValue) -> (problems: [String], failure: EffectFailure?) {
        switch json["outcome"]?.string {
        case "ok": ([], nil)
        case "problems":
            (
                list(json["problems"])?.compactMap { text($0, max: Self.textMax) }
                    ?? ["it reports problems without saying which"], nil
            )
        default: ([], EffectFailure(ofObject: json))
        }
    }

    private static func sortKey(of item: PlanItem) -> (String, String, String, Int) {
        (item.name, item.action.rawValue, item.reason ?? "", item.count)
    }

    // MARK: Members

    private func items(_ value: JSONValue?) -> [PlanItem]? {
        guard let list = self.list(value) else { return nil }
        let items = list.compactMap(item)
        return items.count == list.count ? items : nil
    }

    private func item(_ json: JSONValue) -> PlanItem? {
        guard let name = text(json["name"], max: Self.nameMax), let action = self.action(json),
            let count = self.count(json["count"]),
            let newer = self.count(json["newer_count"], else: 0)
        else { return nil }
        return PlanItem(
            name: name,
            action: action,
            reason: text(json["reason"], max: Self.textMax),
            count: count,
            isBounded: json["bounded"]?.bool ?? false,
            newerCount: newer
        )
    }

    /// A list, empty when it is left out; `nil` when it is something else or too long.
    private func list(_ value: JSONValue?) -> [JSONValue]? {
        guard let value else { return [] }
        guard let list = value.array, list.count <= Self.entriesMax else { return nil }
        return list
    }

    private func action(_ item: JSONValue) -> PlanItem.Action? {
        guard let text = item["action"]?.string else { return .delete }
        return PlanItem.Action(rawValue: text)
    }

    private func count(_ value: JSONValue?, else missing: Int? = nil) -> Int? {
        guard let value else { return missing }
        guard let number = value.number, (0...Double(Self.countMax)).contains(number),
            number == number.rounded(.down)
        else { return nil }
        return Int(number)
    }

    private func text(_ value: JSONValue?, max: Int) -> String? {
        guard let text = value?.string, (1...max).contains(text.unicodeScalars.count),
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory.isPrintable }),
            !namesUser(text)
        else { return nil }
        return text
    }

    /// A short id may be a word of anything; a longer one is taken for the user's.
    private func namesUser(_ text: String) -> Bool {
        guard let id = user?.exposeText(), id.utf8.count >= 8 else { return false }
        return text.contains(id)
    }
}

extension Unicode.GeneralCategory {
    /// No control, format or separator characters but the blank's own category: such a text would
    /// forge lines.
    fileprivate var isPrintable: Bool {
        switch self {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
            .unassigned:
            false
        default: true
        }
    }
}
