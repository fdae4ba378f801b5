/// Every route of the control API with its handler, sorted by path and then by method.
package enum RouteTable {
    package static let routes: [Route] =
        page + daemon + holds + hosts + intake + ledger + messages + notifications + document
        + plans
        + providers + replay + reports + requests + targets + users + vault

    /// The row of one operation; every operation has exactly one, which a test holds.
    package static func route(_ operation: Operation) -> Route {
        guard let route = byOperation[operation] else {
            preconditionFailure("no route for \(operation)")
        }
        return route
    }

    private static let byOperation = Dictionary(
        routes.map { ($0.operation, $0) },
        uniquingKeysWith: { first, _ in first }
    )
}
