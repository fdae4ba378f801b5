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
