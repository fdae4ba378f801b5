import Lifecycle

/// Why a store of Google's did not do its work; holds no name and no text of the server.
struct GoogleFailure: Error, Hashable, CustomStringConvertible {
    let trouble: Trouble

    /// A store has no user whose token could be refused: what its interface rejects means nothing.
    init(_ trouble: Trouble) { self.trouble = trouble == .rejected ? .unusable : trouble }

    var description: String { "cannot purge at 'google' (\(trouble.code))" }
}
