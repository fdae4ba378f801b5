import Control

/// One complete request that passed every check of the connection.
struct ServerRequest: Sendable {
    let match: Router.Match
    let query: Substring
    let idempotencyKey: String?
    /// Empty but for a route that takes a raw body.
    let fields: [String: String]
    let body: [UInt8]
}

/// What the dispatcher sends down a connection.
enum ServerPart: Sendable {
    case answer(ServerAnswer)
    case streamHead
    case streamEvent([UInt8])
}
