import Lifecycle

/// Of servers that have replicas.
extension ResidualPhrase {
    static let laggingReplicas = ResidualPhrase(
        "lagging_replicas",
        "rows on % replicas, until they have replayed the deletion"
    )

    static let unknownReplicas = ResidualPhrase(
        "unknown_replicas",
        "rows on replicas, if there are any"
    )
}
