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
    package let state: State
    /// Findings that have it in common are one question; `nil` for one of its own.
    package let question: CoverageQuestion?

    /// What the rules and the search have of it.
    package enum State: Hashable, Sendable {
        /// No rule deals with it.
        case open
        /// The configuration deletes it, makes it unrecognisable, or keeps it with a reason.
        case covered
        /// Only a part was read there; the reason says how much.
        case sampled
        /// It should have been read, and was not.
        case unread
    }

    package init(
        _ state: State,
        _ name: String,
        _ reason: String,
        _ question: CoverageQuestion? = nil
    ) {
        (self.state, self.name, self.reason, self.question) = (state, name, reason, question)
    }

    package var isCovered: Bool { state != .open }
    package var isUnread: Bool { state == .unread }
    package var isSample: Bool { state == .sampled || isUnread }

    /// One that no rule deals with.
    package static func open(_ name: String, _ reason: String) -> Self {
        Self(.open, name, reason)
    }

    /// Places of which only a part was read, each with its reason.
    package static func samples(_ places: [String: String]) -> [Self] {
        places.sorted { $0.key < $1.key }.map { Self(.sampled, $0.key, $0.value) }
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
        case .fewNumbers: "may hold ids of users: each of its fewer than ten numbers is one"
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

/// Rules for a store, made from its schema.
package enum SuggestionAnswer: Hashable, Sendable {
    /// `[[store.table]]` sections as TOML, with comments; names of the schema, and no user's data.
    case rules(String)
    /// Why there are none, for an operator; without personal data.
    case refused(String)
    case failure(EffectFailure)
}
