package import Engine
package import Lifecycle

/// Data of a deletion without further rechecks, found in the stores by a replay or a sample.
package struct ReturnedData: Hashable, Sendable {
    package let request: RequestID
    package let found: [Recheck.Found]
    /// What further rechecks need; `nil` where none is possible, as without a vault key.
    package let opened: OpenedRecheck?
    /// Ids by which stores knew the user, as far as they are not stored already.
    package let keys: [SealedKeys]
    /// The user is not known, only ids of stores; ``opened`` names no user then.
    package let isNameless: Bool

    package init(
        request: RequestID,
        found: [Recheck.Found],
        opened: OpenedRecheck?,
        keys: [SealedKeys] = [],
        isNameless: Bool = false
    ) {
        self.request = request
        self.found = found
        self.opened = opened
        self.keys = keys
        self.isNameless = isNameless
    }
}
