package import Engine
package import Lifecycle

/// Data of a deletion whose looks are over, found in the stores by somebody who searched them.
package struct ReturnedData: Hashable, Sendable {
    package let request: RequestID
    package let found: [Recheck.Found]
    /// What further looks need; `nil` where the user is not known, only an id of a store.
    package let opened: OpenedCase?

    package init(request: RequestID, found: [Recheck.Found], opened: OpenedCase?) {
        self.request = request
        self.found = found
        self.opened = opened
    }
}
