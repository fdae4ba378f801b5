import Lifecycle

/// Bounds of a store of DynamoDB, each with its reason.
enum DynamoDBLimits {
    /// Deletions of one BatchWriteItem
    /// (docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html).
    static let batch = 25
    /// Times that a throttled call, or an item that others keep changing, is tried again: six
    /// seconds in all.
    static let retriesMax = 6
    /// How long after a request its user's index entries are waited for.
    ///
    /// The vendor names "a fraction of a second" under normal conditions ("Using Global Secondary
    /// Indexes").
    static let indexDelay = Duration.seconds(10)
    /// How long the shape of a table, its backups and its stream are believed.
    static let catalogLifetime = Duration.seconds(600)
    /// The longest that point-in-time recovery goes back ("Point-in-time backups").
    static let recoveryMax = Duration.seconds(35 * 86_400)
    /// How long a stream keeps its records ("Change data capture for DynamoDB Streams").
    static let streamRetention = Duration.seconds(86_400)
    /// Pages of tables that a look for unmapped ones reads, 100 names each.
    static let listPagesMax = 50
    /// Items of a table whose dates are tried by a check.
    static let sampleSize = 20
}
