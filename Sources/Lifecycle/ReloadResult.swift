/// The answer to a reload that was taken.
package struct ReloadResult: Codable, Hashable, Sendable {
    package let reloadedAt: WallTime
    package let changed: [String]
    package let needRestart: [String]
    /// Why a provider or store is paused until it can be used, one line per problem.
    package let unusable: [String]

    package init(
        reloadedAt: WallTime,
        changed: [String] = [],
        needRestart: [String] = [],
        unusable: [String] = []
    ) {
        (self.reloadedAt, self.changed) = (reloadedAt, changed)
        (self.needRestart, self.unusable) = (needRestart, unusable)
    }
}

/// A reload that was refused: the configuration before it is still in force.
package struct RefusedReload: Codable, Hashable, Sendable {
    package let refusedAt: WallTime
    /// One line per problem, with file and line where there is one.
    package var errors: [String]

    package init(refusedAt: WallTime, errors: [String]) {
        (self.refusedAt, self.errors) = (refusedAt, errors)
    }
}
