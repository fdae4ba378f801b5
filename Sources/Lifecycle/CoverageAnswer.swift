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

    package init(name: String, reason: String, isCovered: Bool, isSample: Bool = false) {
        (self.name, self.reason) = (name, reason)
        (self.isCovered, self.isSample, isUnread) = (isCovered, isSample, false)
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

    package init(unread name: String, reason: String) {
        (self.name, self.reason) = (name, reason)
        (isCovered, isSample, isUnread) = (true, true, true)
    }
}
