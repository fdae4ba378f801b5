import Lifecycle

/// Why a store of Google's did not do its work; holds no name and no text of the server.
struct GoogleFailure: Error, Hashable, CustomStringConvertible {
    let trouble: Trouble

    init(_ trouble: Trouble) { self.trouble = trouble }

    var description: String { "cannot purge at 'google' (\(trouble.code))" }
}
