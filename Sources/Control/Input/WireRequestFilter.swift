package import Lifecycle

/// Which requests a list shows; every part narrows it.
package struct WireRequestFilter: Sendable, Hashable {
    package var state: RequestState?
    package var user: UserID?
    package var provider: ProviderName?
    /// What the id begins with; see ``RequestID/range(prefix:)``.
    package var idPrefix: String?
    /// Where the page before ended; opaque.
    package var cursor: String?
    /// The most items of one page, 1 to ``ControlLimits/listLimitMax``.
    package var limit: Int

    package init(limit: Int = ControlLimits.listLimitDefault) {
        self.limit = limit
    }
}
