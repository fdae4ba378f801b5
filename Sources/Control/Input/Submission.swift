package import Lifecycle

/// The body of `POST /v1/requests`.
package struct Submission: Sendable, Hashable {
    package var kind: RequestKind
    package var user: UserID
    package var options: RequestOptions
    /// Proof that the user has just signed in.
    package var signIn: SignInInput?

    /// Says what is asked for, without a sign-in.
    package init(kind: RequestKind, user: UserID, options: RequestOptions = RequestOptions()) {
        self.kind = kind
        self.user = user
        self.options = options
    }
}
