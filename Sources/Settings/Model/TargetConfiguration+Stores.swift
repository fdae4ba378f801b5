/// What `kind = "redis"` has.
package struct RedisTargetConfiguration: Hashable, Sendable {
    /// Where the server listens; `socket` or `address`.
    package enum Place: Hashable, Sendable {
        case socket(String)
        case host(String, port: Int, isPlain: Bool)
    }

    package let place: Place
    /// `nil` for the system's authorities.
    package let caFile: String?
    package let username: String?
    package let passwordCredential: String?
    package internal(set) var database: Int
    /// Each with `{user_id}` once; empty only where there are members.
    package let keys: [String]
    /// Members, each with `{user_id}` once, by the key that holds them.
    package let members: [String: String]
    package let timeout: Duration
}

/// What `kind = "command"` has.
package struct CommandTargetConfiguration: Hashable, Sendable {
    /// Absolute.
    package let program: String
    package let arguments: [String]
    package let timeout: Duration
    /// Bytes.
    package let memoryMax: Int
    /// What the operator calls a copy of its store; only of a copy.
    package internal(set) var copy: String?
}

/// What `kind = "webhook"` has.
package struct WebhookTargetConfiguration: Hashable, Sendable {
    package let url: String
    package let secretCredential: String
    /// `nil` for the system's authorities.
    package let caFile: String?
    package let allowsPrivateAddresses: Bool
    package let timeout: Duration
    /// What the operator calls a copy of its store; only of a copy.
    package internal(set) var copy: String?
}

/// What `kind = "s3"` has.
package struct S3TargetConfiguration: Hashable, Sendable {
    package internal(set) var bucket: String
    /// Without the bucket.
    package let endpoint: String
    package let region: String
    package let urlStyle: URLStyleSetting
    /// `nil` for the system's authorities.
    package let caFile: String?
    package let accessKeyID: String
    package let secretKeyCredential: String
    package let sessionTokenCredential: String?
    /// Each with `{user_id}` once; with the whole keys not empty.
    package let prefixes: [String]
    package let objects: [String]
    package let timeout: Duration
}

/// What `kind = "google-cloud-storage"` has.
package struct CloudStorageTargetConfiguration: Hashable, Sendable {
    package internal(set) var bucket: String
    /// Each with `{user_id}` once; with the whole names not empty.
    package let prefixes: [String]
    package let objects: [String]
    package let access: GoogleAccess
}

/// What `kind = "firestore"` has.
package struct FirestoreTargetConfiguration: Hashable, Sendable {
    package let project: String
    package internal(set) var database: String
    /// Each with `{user_id}` once; with the collections and groups not empty.
    package let documents: [String]
    package let collections: [String]
    package let groups: [String]
    package let includesSubcollections: Bool
    package let access: GoogleAccess
}

/// What `kind = "realtime-database"` has.
package struct RealtimeDatabaseTargetConfiguration: Hashable, Sendable {
    /// Without a path.
    package internal(set) var url: String
    /// Not empty; each with `{user_id}` once.
    package let paths: [String]
    /// `nil`: no cutoff, which the receipt says.
    package let createdAtChild: String?
    package let access: GoogleAccess
}

/// Where the name of a bucket stands in a URL; `target.url_style`.
package enum URLStyleSetting: String, Sendable, CaseIterable {
    case virtualHost = "virtual-host"
    case path
}

extension TargetKind {
    /// Names of credentials that the target needs, each with the key that names it.
    package var credentials: [(name: String, key: String)] {
        switch self {
        case .sqlite, .files, .command, .cloudStorage, .firestore, .realtimeDatabase,
            .firebaseAuth:
            []
        case .postgresql(let postgresql):
            [(postgresql.conninfoCredential, "conninfo_credential")]
        case .redis(let redis):
            redis.passwordCredential.map { [($0, "password_credential")] } ?? []
        case .webhook(let webhook): [(webhook.secretCredential, "secret_credential")]
        case .s3(let s3):
            [(s3.secretKeyCredential, "secret_key_credential")]
                + (s3.sessionTokenCredential.map { [($0, "session_token_credential")] } ?? [])
        }
    }
}
