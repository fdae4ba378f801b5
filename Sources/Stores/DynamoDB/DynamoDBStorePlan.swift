import HTTP
import Lifecycle

/// Tables of one region and where a user's items are in them.
struct DynamoDBStorePlan: Sendable {
    let name: StoreName
    /// `https://HOST[:PORT]`.
    let endpoint: String
    let region: String
    let signer: AWSSigner
    /// Not empty; those whose items stay name attributes (``ItemRule/released``).
    let rules: [ItemRule]
    /// What stands in front of each table's name.
    var prefix = ""
    /// Texts that released attributes get instead of being removed.
    var masks: [String: String] = [:]
    /// The attribute that dates the items of a table.
    var datedBy: [String: ItemDate.Column] = [:]
    /// Whether a verification reads the whole table behind an index.
    var verifiesByScan = false
    var remote: RemoteSettings
    /// Items of a page of a query.
    var pageSize = 500
}
