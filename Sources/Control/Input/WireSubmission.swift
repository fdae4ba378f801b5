package import Lifecycle

/// The body of `POST /v1/requests`.
package struct WireSubmission: Sendable, Hashable {
    package var kind: RequestKind
    package var user: UserID
    package var options: RequestOptions
    package var signIn: SignInInput?
    /// Where the user gets the confirmation; `delete_account` only.
    package var notifyEmail: MailAddress?
    package var language = MessageLanguage.english

    package init(kind: RequestKind, user: UserID, options: RequestOptions = RequestOptions()) {
        (self.kind, self.user, self.options) = (kind, user, options)
    }
}
