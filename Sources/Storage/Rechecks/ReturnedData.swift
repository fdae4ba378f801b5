package import Engine
package import Lifecycle

/// Data of a deletion without further rechecks that a replay or a sample found.
package struct ReturnedData: Hashable, Sendable {
    package let request: RequestID
    package let found: [Recheck.Found]
    /// What further rechecks need; `nil` where none is possible, as without a vault key.
    package let opened: OpenedRecheck?
    /// Ids by which stores knew the user, unless they are stored.
    package let keys: [SealedKeys]
    /// Only ids of stores are known; ``opened`` names no user then.
    package let isNameless: Bool

    package init(
        request: RequestID,
        found: [Recheck.Found],
        opened: OpenedRecheck?,
        keys: [SealedKeys] = [],
        isNameless: Bool = false
    ) {
        (self.request, self.found, self.opened, self.keys) = (request, found, opened, keys)
        self.isNameless = isNameless
    }
}
