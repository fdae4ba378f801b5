package import Engine
package import Lifecycle

/// Data of a deletion whose looks are over, found in the stores by somebody who searched them.
package struct ReturnedData: Hashable, Sendable {
    package let request: RequestID
    package let found: [Recheck.Found]
    /// What further looks need; `nil` where nobody can look, as without a vault key.
    package let opened: OpenedRecheck?
    /// Ids by which stores knew the user, as far as they are not kept for the case already.
    package let keys: [SealedKeys]
    /// The user is not known, only ids of stores; ``opened`` has nobody's name then.
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
