extension PurgeCounts {
    /// What was done with the rows of an ``Entry``; its text is stored, and stands on the receipt.
    package enum Action: Hashable, Sendable, LosslessStringConvertible {
        /// Left alone under a hold when the purge last ran.
        case held
        /// Ids that other users still own; counted anew by each purge.
        case shared
        /// In a store that is searched by keys, when none was found.
        case notLookedFor
        /// The same, after an operator decided to go on without keys.
        case withoutKeys
        /// A rule to whose rows nothing led, named as `column via table.column`.
        case unreached(String)
        /// A store has promised to erase it later (``ResidualPhrase/promised``).
        case accepted
        /// What looks like the user's and was left alone.
        case passedOver(ReceiptSentence)
        /// By a rule; behind the verb its details, such as `: tax, cutoff: none`.
        case rule(PlanItem.Action, String = "")

        package var description: String {
            switch self {
            case .held: "held"
            case .shared: "keep: still has other owners"
            case .notLookedFor: "not looked for"
            case .withoutKeys: "not looked for: an operator decided to go on"
            case .unreached(let rule): "not looked for by \(rule)"
            case .accepted: "accepted"
            case .passedOver(let reason): "passed over: \(reason.text)"
            case .rule(let verb, let details): verb.rawValue + details
            }
        }

        private static let fixed: [String: Action] = {
            var all: [Action] = [.held, .shared, .notLookedFor, .withoutKeys, .accepted]
            all += ReceiptSentence.allCases.map { .passedOver($0) }
            return Dictionary(uniqueKeysWithValues: all.map { ($0.description, $0) })
        }()

        /// Reads ``description``; `nil` for any other text.
        package init?(_ text: String) {
            let start = Action.unreached("").description
            if let known = Action.fixed[text] {
                self = known
            } else if text.hasPrefix(start) {
                self = .unreached(String(text.dropFirst(start.count)))
            } else {
                let verbs = PlanItem.Action.allCases
                guard let verb = verbs.first(where: { text.hasPrefix($0.rawValue) }) else {
                    return nil
                }
                self = .rule(verb, String(text.dropFirst(verb.rawValue.count)))
            }
        }

        /// The rows are still there, so that the next pass counts the same ones.
        var isLeft: Bool {
            switch self {
            case .held, .shared, .accepted, .passedOver, .rule(.keep, _): true
            case .notLookedFor, .withoutKeys, .unreached, .rule: false
            }
        }

        /// The same with a detail more; only a rule has some.
        package func adding(_ detail: String) -> Action {
            guard case .rule(let verb, let details) = self else { return self }
            return .rule(verb, details + detail)
        }
    }
}

/// Rules to whose rows nothing led: what they go by was gone before the purge.
///
/// The rest of the store was purged and is verified. Of these rules nothing is.
extension PurgeCounts {
    /// Ends the name of a rule whose rows were looked for only as the user's own row spells them.
    package static let otherSpellings = " in other spellings"

    /// An entry for each such rule.
    package var unreached: [Entry] { entries.filter { $0.unreachedRule != nil } }

    /// The whole store is searched by keys, and none was found.
    package var isWithoutAnyKey: Bool {
        entries.contains { $0.action == .notLookedFor || $0.action == .withoutKeys }
    }

    /// Takes over which rules are unreached after another pass, before its counts are added.
    ///
    /// The first pass that reaches a rule takes all of its rows, and only then what leads there.
    /// So what a pass has reached need not be found again by a later one. A pass that broke off may
    /// have come to other rules of a table only.
    ///
    /// - Returns: The entries of the other pass without those of rules that were reached before.
    mutating func noteReached(by other: PurgeCounts, isWhole: Bool) -> [Entry] {
        let before = entries
        if isWhole {
            entries.removeAll { entry in
                // Afterwards nothing leads to what is spelled otherwise.
                !(entry.unreachedRule ?? Self.otherSpellings).hasSuffix(Self.otherSpellings)
                    && !other.entries.contains { $0.isSame(as: entry) }
            }
        }
        return other.entries.filter { entry in
            entry.unreachedRule == nil || before.contains { $0.isSame(as: entry) }
                || !before.contains { $0.name == entry.name }
        }
    }
}

extension PurgeCounts.Entry {
    /// The rule to whose rows nothing led.
    package var unreachedRule: String? {
        if case .unreached(let rule) = action { rule } else { nil }
    }

    /// Why what looks like the user's was left alone.
    package var passedOverReason: String? {
        if case .passedOver(let reason) = action { reason.text } else { nil }
    }

    package func isSame(as other: PurgeCounts.Entry) -> Bool {
        name == other.name && action == other.action
    }
}
