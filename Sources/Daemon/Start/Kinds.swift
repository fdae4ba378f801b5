import HTTP
import PostgreSQL
import Providers
package import Settings
import Storage
import Stores

/// The kinds of providers, directories and stores, each list in documentation order.
package enum Kinds {
    static let providers: [any ProviderKind.Type] = [
        AppleKind.self, GoogleKind.self, FacebookKind.self, MicrosoftKind.self, GitHubKind.self,
        XKind.self, CommandKind.self, OAuth2Kind.self,
    ]

    static let directories: [any DirectoryKind.Type] = [FirebaseKind.self]

    static let stores: [any StoreKind.Type] = [
        SQLiteKind.self, FilesKind.self, PostgreSQLKind.self, MySQLKind.self,
        RedisKind.self, CommandStoreKind.self, WebhookKind.self, S3Kind.self,
        CloudStorageKind.self, DynamoDBKind.self,
        FirestoreKind.self, RealtimeDatabaseKind.self, HTTPKind.self, FirebaseAuthKind.self,
    ]

    static let queues: [any QueueKind.Type] = [PostgreSQLQueue.self, MySQLQueue.self]

    /// The version of each library that a kind works with, for metrics.
    static let libraries = [
        ("sqlite", StateDatabase.sqliteVersion), ("libpq", PostgreSQLLink.libraryVersion),
    ]

    package static let table = SettingsTable(
        StateConfiguration.settings + SettingsTable.general + SettingsTable.mail
            + ProviderConfiguration.settings(providers)
            + DirectoryConfiguration.settings(directories, providers: providers)
            + StoreConfiguration.settings(stores) + SettingsTable.subscriber
            + QueueConfiguration.settings(queues),
        kinds: [.provider: providers, .directory: directories, .store: stores, .queue: queues]
    )
}
