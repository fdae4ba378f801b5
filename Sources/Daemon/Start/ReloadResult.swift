import Lifecycle

/// What a reload brought into force.
struct ReloadResult: Sendable {
    let reloadedAt: WallTime
    /// Keys that changed and are in force.
    let changed: [String]
    /// Keys that changed and need a restart.
    let needRestart: [String]
    /// Why a provider or store is paused until it can be used, one line per problem.
    let unusable: [String]
}
