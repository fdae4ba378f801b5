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
        SQLiteStore.self, FilesStore.self, PostgreSQLStore.self, MySQLStore.self,
        RedisStore.self, CommandStore.self, WebhookStore.self, S3Store.self,
        CloudStorageStore.self, DynamoDBStore.self,
        FirestoreStore.self, RealtimeDatabaseStore.self, HTTPStore.self, FirebaseAuthStore.self,
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
            + TargetConfiguration.settings(stores) + SettingsTable.subscriber
            + QueueConfiguration.settings(queues),
        kinds: [.provider: providers, .directory: directories, .target: stores, .queue: queues]
    )
}
