import HTTP
import Providers
package import Settings
import Stores

/// The one list of the kinds of providers, directories and stores.
package enum Kinds {
    /// In documentation order.
    static let providers: [any ProviderKind.Type] = [
        AppleKind.self, GoogleKind.self, FacebookKind.self, MicrosoftKind.self, GitHubKind.self,
        XKind.self, CommandKind.self, OAuth2Kind.self,
    ]

    /// In documentation order.
    static let directories: [any DirectoryKind.Type] = [FirebaseKind.self]

    /// In documentation order.
    static let stores: [any StoreKind.Type] = [
        SQLiteStore.self, FilesStore.self, PostgreSQLStore.self, RedisStore.self,
        CommandStore.self, WebhookStore.self, S3Store.self, CloudStorageStore.self,
        FirestoreStore.self, RealtimeDatabaseStore.self, FirebaseAuthStore.self,
    ]

    /// Every key that a configuration may have.
    package static let table = SettingsTable(
        SettingsTable.general + ProviderConfiguration.settings(providers)
            + DirectoryConfiguration.settings(directories, providers: providers)
            + TargetConfiguration.settings(stores),
        kinds: [.provider: providers, .directory: directories, .target: stores]
    )
}
