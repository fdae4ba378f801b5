/// What deleting one account would do, for an operator to approve; without personal data.
package struct PurgePlan: Hashable, Sendable, Codable {
    /// An identity whose tokens would be revoked.
    package struct Link: Hashable, Sendable, Codable {
        package let identity: IdentityID
        package let provider: ProviderName
        package let clientID: String

        package init(identity: IdentityID, provider: ProviderName, clientID: String) {
            (self.identity, self.provider, self.clientID) = (identity, provider, clientID)
        }
    }

    /// A setting that decides what is purged of a store, and how.
    package struct Rule: Hashable, Sendable, Codable {
        /// Where it stands, such as `table users (id): set.email`; once in each store.
        package let key: String
        package let value: String

        package init(key: String, value: String) { (self.key, self.value) = (key, value) }
    }

    /// What would be done in one store.
    package struct Part: Hashable, Sendable, Codable {
        package let store: StoreName
        /// In the order of work; `nil` for a store that cannot tell before it purges.
        package let items: [PlanItem]?
        package let rules: [Rule]

        package init(store: StoreName, items: [PlanItem]?, rules: [Rule] = []) {
            (self.store, self.items, self.rules) = (store, items, rules)
        }
    }

    package let links: [Link]
    package let parts: [Part]
    /// Stands for all of it and for the user: 32 hexadecimal digits of a keyed hash of
    /// ``canonicalText(of:_:user:)``.
    package let hash: String

    package init(links: [Link], parts: [Part], hash: String) {
        (self.links, self.parts, self.hash) = (links, parts, hash)
    }

    /// The text that ``hash`` is taken of; equal for equal plans of one user only.
    ///
    /// Each field stands behind its length. Rows behind the cutoff are not in it: however many they
    /// are, the same would be done.
    package static func canonicalText(of links: [Link], _ parts: [Part], user: [UInt8]) -> String {
        var fields = ["plan 2", user.map { String($0, radix: 16) }.joined(separator: ".")]
        for link in links {
            fields += ["link", link.identity.description, link.provider.rawValue, link.clientID]
        }
        for part in parts {
            fields += ["store", part.store.rawValue, part.items == nil ? "unknown" : "counted"]
            for rule in part.rules { fields += ["rule", rule.key, rule.value] }
            for item in part.items ?? [] {
                fields += [
                    "item", item.name, item.action.rawValue, item.reason.map { "=" + $0 } ?? "-",
                    "\(item.count)", item.isBounded ? "or more" : "exactly",
                ]
            }
        }
        return fields.map { "\($0.utf8.count):\($0)" }.joined()
    }
}

/// What asking every store of a request for its plan brought.
package enum PlanResult: Hashable, Sendable {
    case made(PurgePlan)
    case failure(StoreName, EffectFailure)
}

/// One line of the difference between two plans.
package struct PlanChange: Hashable, Sendable {
    /// What it is about.
    package enum Subject: Hashable, Sendable {
        case link(PurgePlan.Link)
        case item(StoreName, name: String, PlanItem.Action)
        /// A store that could tell and now cannot, or the other way round.
        case store(StoreName)
        case rule(StoreName, key: String)
    }

    package let subject: Subject
    package let was: PlanItem?
    package let now: PlanItem?
    /// ``PurgePlan/Rule/value``; `nil` when the rule is new, or it is about none.
    package let ruleWas: String?
    /// ``PurgePlan/Rule/value``; `nil` when the rule is gone, or it is about none.
    package let ruleNow: String?
    package let isNew: Bool
    package let isGone: Bool
}

extension PurgePlan {
    /// What differs from an earlier plan: first what is gone, then what is new or differs.
    package func changes(since earlier: PurgePlan) -> [PlanChange] {
        let (old, new) = (earlier.lines, lines)
        let gone = old.filter { line in !new.contains { $0.isAbout(line) } }
        return gone.map { PlanChange($0.subject, was: $0, now: nil) }
            + new.compactMap { line in
                let before = old.first { $0.isAbout(line) }
                guard before?.isSame(as: line) != true else { return nil }
                return PlanChange(line.subject, was: before, now: line)
            }
    }

    fileprivate struct Line {
        let subject: PlanChange.Subject
        var item: PlanItem?
        var rule: String?
        /// Which line about the subject it is: two rules may be about one table.
        var number = 0

        func isAbout(_ other: Line) -> Bool {
            subject == other.subject && number == other.number
        }

        func isSame(as other: Line) -> Bool {
            rule == other.rule && (item.map { $0.isSamePurge(as: other.item) } ?? true)
        }
    }

    private var lines: [Line] {
        var lines = links.map { Line(subject: .link($0)) }
        for part in parts {
            lines += part.rules.map {
                Line(subject: .rule(part.store, key: $0.key), rule: $0.value)
            }
            guard let items = part.items else {
                lines.append(Line(subject: .store(part.store)))
                continue
            }
            lines += items.map {
                Line(subject: .item(part.store, name: $0.name, $0.action), item: $0)
            }
        }
        var counts: [PlanChange.Subject: Int] = [:]
        for index in lines.indices {
            lines[index].number = counts[lines[index].subject, default: 0]
            counts[lines[index].subject, default: 0] += 1
        }
        return lines
    }
}

extension PlanChange {
    fileprivate init(_ subject: Subject, was: PurgePlan.Line?, now: PurgePlan.Line?) {
        self.subject = subject
        self.was = was?.item
        self.now = now?.item
        ruleWas = was?.rule
        ruleNow = now?.rule
        isNew = was == nil
        isGone = now == nil
    }
}

extension PlanItem {
    /// Whether the same would be done; see ``PurgePlan/canonicalText(of:_:user:)``.
    fileprivate func isSamePurge(as other: PlanItem?) -> Bool {
        guard let other else { return false }
        return count == other.count && isBounded == other.isBounded && reason == other.reason
    }
}

/// What asking a store what a purge of one user would do brought.
package enum PlanAnswer: Hashable, Sendable {
    case items([PlanItem])
    case unknown
    case failure(EffectFailure)
}

/// One row of a plan: a table (or folder, prefix) and what would be done there.
package struct PlanItem: Hashable, Sendable, Codable {
    /// What is done to the user's data.
    package enum Action: String, Hashable, Sendable, Codable, CaseIterable {
        case delete, anonymize, keep
    }

    /// Named as on the receipt (``PurgeCounts/Entry/name``).
    package let name: String
    package let action: Action
    /// Why data stays; `nil` for what is deleted.
    package let reason: String?
    package let count: Int
    /// It is at least ``count``, as a program or service that was asked said.
    package let isBounded: Bool
    package let newerCount: Int
    /// Of ``count``, those without a time of creation where others have one: they count as old.
    package let undatedCount: Int
    /// Nothing there has a time of creation, so that what is newer than the request goes, too.
    package let hasNoTimestamps: Bool

    package init(
        name: String,
        action: Action,
        reason: String? = nil,
        count: Int,
        isBounded: Bool = false,
        newerCount: Int = 0,
        undatedCount: Int = 0,
        hasNoTimestamps: Bool = false
    ) {
        (self.name, self.action, self.reason) = (name, action, reason)
        (self.count, self.isBounded, self.newerCount) = (count, isBounded, newerCount)
        (self.undatedCount, self.hasNoTimestamps) = (undatedCount, hasNoTimestamps)
    }
}

/// Where a part of a plan comes from.
package enum PlanSource: Hashable, Sendable {
    case asked(StoreName)
    /// The store is asked; something of the part that was approved may be gone by now.
    case rest(of: PurgePlan.Part)
    /// The part stays as it was: the store's purge does not begin now, or is over.
    case kept(PurgePlan.Part)

    package var store: StoreName {
        switch self {
        case .asked(let store): store
        case .rest(let part), .kept(let part): part.store
        }
    }

    /// The approved part where what is left is no more than that.
    package func part(of made: PurgePlan.Part) -> PurgePlan.Part {
        switch self {
        case .asked: made
        case .rest(let approved): made.isRest(of: approved) ? approved : made
        case .kept(let part): part
        }
    }
}

extension PurgePlan.Part {
    /// Whether it can be what a purge of the other part that broke off has left: nothing else is
    /// done, and nothing to more.
    fileprivate func isRest(of approved: PurgePlan.Part) -> Bool {
        guard rules == approved.rules else { return false }
        guard let items, let before = approved.items else {
            return items == nil && approved.items == nil
        }
        return items.allSatisfy { item in
            let same: (PlanItem) -> Bool = {
                $0.name == item.name && $0.action == item.action && $0.reason == item.reason
            }
            let bounds = before.filter(same)
            guard !bounds.isEmpty else { return item.count == 0 || item.action == .keep }
            guard item.action != .keep, !bounds.contains(where: \.isBounded) else { return true }
            let left = items.filter(same)
            return !left.contains(where: \.isBounded)
                && left.reduce(0) { $0 + $1.count } <= bounds.reduce(0) { $0 + $1.count }
        }
    }
}
