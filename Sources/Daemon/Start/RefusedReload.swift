import Lifecycle

/// A reload that was refused: the configuration before it is still in force.
struct RefusedReload: Sendable {
    let refusedAt: WallTime
    /// One line per problem, with file and line where there is one.
    let problems: [String]
}
