package import Lifecycle

/// The closed set of options of a request; the same keys as the spool's `options` column.
package struct RequestOptions: Sendable, Hashable {
    /// Lengthens the grace period; a shorter one than configured has no effect.
    package var grace: Duration?
    package var providers: [ProviderName]?
    /// A code such as `user_request`: 1 to 64 of `a-z 0-9 _ -`, never free text.
    package var reason: String?
    /// When the account was made; rows older than that are not the user's.
    package var accountCreatedAt: WallTime?

    package init() {}
}
