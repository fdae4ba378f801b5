extension PurgeCounts {
    /// What was done with the rows of an ``Entry``.
    package enum Action: Hashable, Sendable {
        /// Names an action, in the state and on receipts.
        package enum Code: String, Sendable, CaseIterable {
            case delete, anonymize, keep, held, shared, accepted, unreached, unsearched
            case notLookedFor = "not_looked_for"
            case withoutKeys = "without_keys"
            case passedOver = "passed_over"

            /// The rows are still there, so that the next pass counts the same ones.
            package var isLeft: Bool {
                switch self {
                case .held, .shared, .accepted, .passedOver, .keep: true
                case .delete, .anonymize, .notLookedFor, .withoutKeys, .unreached, .unsearched:
                    false
                }
            }
        }

        /// Left alone under a hold when the purge last ran.
        case held
        /// Ids that other users still own; counted anew by each purge.
        case shared
        /// In a store that is searched by keys, when none was found.
        case notLookedFor
        /// The same, after an operator decided to go on without keys.
        case withoutKeys
        /// A rule to whose rows nothing led, by its column and the `table.column` that leads there.
        case unreached(String, via: String)
        /// A column that was searched only as the user's own row spells its value.
        case unsearched(String)
        /// A store has promised to erase it later (``ResidualPhrase/promised``).
        case accepted
        /// What looks like the user's and was left alone.
        case passedOver(ReceiptSentence)
        /// By a rule.
        case rule(PlanItem.Action, Details = Details())

        package var code: Code {
            switch self {
            case .held: .held
            case .shared: .shared
            case .notLookedFor: .notLookedFor
            case .withoutKeys: .withoutKeys
            case .unreached: .unreached
            case .unsearched: .unsearched
            case .accepted: .accepted
            case .passedOver: .passedOver
            case .rule(.delete, _): .delete
            case .rule(.anonymize, _): .anonymize
            case .rule(.keep, _): .keep
            }
        }

        /// What a rule says of its rows; `nil` for what no rule did.
        package var details: Details? {
            if case .rule(_, let details) = self { details } else { nil }
        }

        /// The same for some rows of the rule.
        package func of(_ rows: Details.Rows) -> Action {
            guard case .rule(let verb, var details) = self else { return self }
            details.rows = rows
            return .rule(verb, details)
        }
    }

    /// What a receipt says of an entry besides the action of its rule.
    package struct Details: Hashable, Sendable {
        /// Which rows of the rule an entry is about.
        package enum Rows: String, Sendable, CaseIterable {
            case all
            /// Those without a creation time where others have one.
            case undated
            /// None, since its column cannot hold the user's id.
            case noSuchID = "no_such_id"
        }

        /// The table whose rows took these with them.
        package let parent: String?
        /// Why the rows stay, as configured.
        package let reason: String?
        /// What of a column's values the rule is about.
        package let part: String?
        /// Newer rows went, too.
        package let hasNoTimestamps: Bool
        package var rows: Rows

        package init(
            parent: String? = nil,
            reason: String? = nil,
            part: String? = nil,
            hasNoTimestamps: Bool = false,
            rows: Rows = .all
        ) {
            (self.parent, self.reason, self.part) = (parent, reason, part)
            (self.hasNoTimestamps, self.rows) = (hasNoTimestamps, rows)
        }
    }
}

/// Rules to whose rows nothing led: what they go by was gone before the purge.
///
/// The rest of the store was purged and is verified. Of these rules nothing is.
extension PurgeCounts {
    /// An entry for each such rule.
    package var unreached: [Entry] { entries.filter(\.isUnreached) }

    /// The whole store is searched by keys, and none was found.
    package var isWithoutAnyKey: Bool {
        entries.contains { $0.action == .notLookedFor || $0.action == .withoutKeys }
    }

    /// An operator goes on without what is spelled otherwise there.
    package var isGivenUp: Bool {
        entries.contains { $0.action == .passedOver(.spelledOtherwise) }
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
            // Nothing leads to what is unsearched afterwards: that stays.
            entries.removeAll { entry in
                entry.action.code == .unreached && !other.entries.contains { $0.isSame(as: entry) }
            }
        }
        return other.entries.filter { entry in
            !entry.isUnreached || before.contains { $0.isSame(as: entry) }
                || !before.contains { $0.name == entry.name }
        }
    }
}

extension PurgeCounts.Entry {
    /// Nothing led to the rows of its rule, or not to all of them.
    package var isUnreached: Bool { action.code == .unreached || action.code == .unsearched }

    /// Why what looks like the user's was left alone.
    package var passedOver: ReceiptSentence? {
        if case .passedOver(let reason) = action { reason } else { nil }
    }

    package func isSame(as other: PurgeCounts.Entry) -> Bool {
        name == other.name && action == other.action
    }
}
