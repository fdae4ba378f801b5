/// Finds the route of a method and a path.
package struct Router: Sendable {
    /// A route with the decoded parameters of its path.
    package struct Match: Sendable {
        package let route: Route
        /// In the order of the pattern.
        package let values: [String]
    }

    private struct Entry: Sendable {
        let route: Route
        let segments: [Substring]
    }

    private let entriesBySegmentCount: [Int: [Entry]]

    package init(_ routes: [Route] = RouteTable.routes) {
        entriesBySegmentCount = Dictionary(
            grouping: routes.map { Entry(route: $0, segments: Self.segments($0.pattern[...])) },
            by: \.segments.count
        )
    }

    /// Finds the route of a raw path without its query.
    ///
    /// - Throws: ``ControlProblem`` with `route_not_found`, `method_not_allowed` or, for a
    ///   parameter that cannot be decoded, `malformed_user_id` or `route_not_found`.
    package func match(method: String, path: Substring) throws(ControlProblem) -> Match {
        let segments = Self.segments(path)
        var isPathKnown = false
        for entry in entriesBySegmentCount[segments.count] ?? []
        where Self.fits(entry.segments, segments) {
            isPathKnown = true
            guard entry.route.method.rawValue == method else { continue }
            return Match(route: entry.route, values: try Self.values(entry, segments))
        }
        throw ControlProblem(isPathKnown ? .methodNotAllowed : .routeNotFound)
    }

    /// The methods that a path knows, for the `Allow` field (RFC 9110 §10.2.1).
    package func methods(path: Substring) -> [Route.Method] {
        let segments = Self.segments(path)
        return (entriesBySegmentCount[segments.count] ?? [])
            .filter { Self.fits($0.segments, segments) }.map(\.route.method)
    }

    private static func segments(_ path: Substring) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: false)
    }

    private static func fits(_ pattern: [Substring], _ segments: [Substring]) -> Bool {
        zip(pattern, segments).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }

    private static func values(
        _ entry: Entry,
        _ segments: [Substring]
    ) throws(ControlProblem) -> [String] {
        var values: [String] = []
        for (name, segment) in zip(entry.segments, segments) where name.hasPrefix("{") {
            guard let value = PathText.decode(segment), !value.isEmpty else {
                throw ControlProblem(name == "{user_id}" ? .malformedUserID : .routeNotFound)
            }
            values.append(value)
        }
        return values
    }
}
