/// What looking through a whole store for user data brought.
package enum CoverageAnswer: Hashable, Sendable {
    /// Everything that looks like user data, covered or not; empty when nothing does.
    case findings([CoverageFinding])
    case failure(EffectFailure)
}

/// Something in a store that looks like user data.
package struct CoverageFinding: Hashable, Sendable {
    /// The name of what is all over a store.
    package static let everywhere = "*"

    /// A table's column (`posts.editor_id`), a folder, a prefix; a name of the schema, never a
    /// user's.
    package let name: String
    package let reason: String
    /// The configuration deletes it, makes it unrecognisable, or keeps it with a reason.
    package let isCovered: Bool
    /// Only a part was looked at there; the reason says how much.
    package let isSample: Bool
    /// It should have been read, and was not: also a sample.
    package let isUnread: Bool
    /// Findings that have it in common are one question; `nil` for one of its own.
    package let question: CoverageQuestion?

    package init(
        name: String,
        reason: String,
        isCovered: Bool,
        isSample: Bool = false,
        question: CoverageQuestion? = nil
    ) {
        (self.name, self.reason, self.question) = (name, reason, question)
        (self.isCovered, self.isSample, isUnread) = (isCovered, isSample, false)
    }

    package init(unread name: String, reason: String) {
        (self.name, self.reason, question) = (name, reason, nil)
        (isCovered, isSample, isUnread) = (true, true, true)
    }

    /// One that no rule deals with.
    package static func open(_ name: String, _ reason: String) -> Self {
        Self(name: name, reason: reason, isCovered: false)
    }

    /// Places of which only a part was looked at, each with its reason.
    package static func samples(_ places: [String: String]) -> [Self] {
        places.sorted { $0.key < $1.key }.map {
            Self(name: $0.key, reason: $0.value, isCovered: true, isSample: true)
        }
    }
}

/// What is asked once about several columns.
package enum CoverageQuestion: Hashable, Sendable {
    /// Every number in the columns is a user's id, and there are few.
    case fewNumbers
    /// Numbers in a column of that name may be ids of users, in each of several tables.
    case sameColumn(String)

    /// Why columns that have the question in common are reported.
    package var reason: String {
        switch self {
        case .fewNumbers: "may hold ids of users: every number is one, of fewer than ten"
        case .sameColumn: "may hold ids of users, if it is not that of a tenant or the like"
        }
    }
}

extension Array {
    /// Those that have one key together, in the order of the first of each; without a key, alone.
    package func grouped<Key: Hashable>(by key: (Element) -> Key?) -> [[Element]] {
        var places: [Key: Int] = [:]
        return reduce(into: []) { groups, item in
            guard let own = key(item) else { return groups.append([item]) }
            let place = places[own, default: groups.count]
            places[own] = place
            if place == groups.count { groups.append([item]) } else { groups[place].append(item) }
        }
    }

    /// Those that have one question together; the one about few numbers comes last.
    package func questions(by question: KeyPath<Element, CoverageQuestion?>) -> [[Element]] {
        let groups = grouped { $0[keyPath: question] }
        let isFew = { (group: [Element]) in group[0][keyPath: question] == .fewNumbers }
        return groups.filter { !isFew($0) } + groups.filter(isFew)
    }
}
