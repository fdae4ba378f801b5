/// A fixed sentence of a store about copies that stay for a while; receipts translate it by its id.
package enum ResidualPhrase: String, Sendable, CaseIterable {
    case sqliteLog = "sqlite_log"
    case deadRows = "dead_rows"
    case undoLog = "undo_log"
    case laggingReplicas = "lagging_replicas"
    case unknownReplicas = "unknown_replicas"
    case versionsUnderLegalHold = "versions_under_legal_hold"
    case versionsUnderGovernance = "versions_under_governance_lock"
    case versionsUnderCompliance = "versions_under_compliance_lock"
    case objectsUnderHold = "objects_under_hold"
    case objectsUnderRetention = "objects_under_retention"
    case softDeletedObjects = "soft_deleted_objects"
    case unfinishedUploads = "unfinished_uploads"
    case earlierVersions = "earlier_versions"
    case idTokens = "id_tokens"
    case appendOnlyFile = "append_only_file"
    case laggingCaches = "lagging_redis_replicas"
    case olderDataUnderNewDate = "older_data_under_new_date"
    case promised = "promised"
    case tableRecovery = "table_recovery"
    case tableBackups = "table_backups"
    case tableStream = "table_stream"

    /// In English; `%` stands for a name or number.
    package var template: String {
        switch self {
        case .sqliteLog:
            "deleted content in the write-ahead log and behind it, until a checkpoint and until the"
                + " log is written over"
        case .deadRows:
            "dead rows, until VACUUM has passed and their space is written over, and the"
                + " write-ahead log, until it is recycled"
        case .undoLog:
            "deleted rows in InnoDB's undo log and pages, until the purge threads have passed and"
                + " their space is written over, and in the binary log, until it expires"
        case .laggingReplicas: "rows on % replicas, until they have replayed the deletion"
        case .unknownReplicas: "rows on replicas, if there are any"
        case .versionsUnderLegalHold: "object versions under legal hold lock in bucket '%'"
        case .versionsUnderGovernance: "object versions under governance lock in bucket '%'"
        case .versionsUnderCompliance: "object versions under compliance lock in bucket '%'"
        case .objectsUnderHold: "objects under an object hold in bucket '%'"
        case .objectsUnderRetention: "objects under retention in bucket '%'"
        case .softDeletedObjects: "soft-deleted objects of bucket '%'"
        case .unfinishedUploads:
            "unfinished uploads to bucket '%', if there are any: the bucket does not list them"
        case .earlierVersions: "earlier versions of documents in database '%'"
        case .idTokens: "id tokens of Firebase that were handed out before"
        case .appendOnlyFile: "append-only file of Redis, until its next rewrite"
        case .laggingCaches: "replicas of Redis that lag behind"
        case .promised: "data that the store has promised to erase"
        case .olderDataUnderNewDate:
            "older data at '%', if there is any: the application dated it after the request"
        case .tableRecovery: "earlier states of table '%' in point-in-time recovery"
        case .tableBackups: "backups of table '%'"
        case .tableStream: "records of the deletion in the stream of table '%'"
        }
    }

    /// The template with its name.
    package static func filled(_ template: String, _ name: String?) -> String {
        guard let name, let place = template.firstIndex(of: "%") else { return template }
        return template[..<place] + name + template[template.index(after: place)...]
    }
}
