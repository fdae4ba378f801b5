/// One complete request that passed every check of the connection.
struct ServerRequest: Sendable {
    let head: CheckedHead
    let body: [UInt8]
}

/// What the dispatcher sends down a connection.
enum ServerPart: Sendable {
    case answer(ServerAnswer)
    case streamHead
    case streamEvent([UInt8])
}
