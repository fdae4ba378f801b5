package import Lifecycle
package import Settings

/// One `[[store]]` section.
package struct StoreConfiguration: Sendable {
    package let name: StoreName
    /// What its kind read.
    package private(set) var settings: any StoreKind
    /// How long erased data survives in backups; `nil` when nobody said.
    package let backupsKept: Duration?
    /// How long the store's own files hold what was deleted; `nil` when nobody said.
    package let residualCopiesKept: Duration?
    /// Where its own ids are found; `nil` when it knows the user by the user id.
    package let keyedBy: KeyReference?
    /// What happens when no id is found there.
    package let withoutKeys: WithoutKeys

    init(_ section: SettingsSection, _ settings: any StoreKind) {
        name = StoreName(section.requiredText("name"))
        self.settings = settings
        backupsKept = section.optionalDuration("backups_kept")
        residualCopiesKept = section.optionalDuration("residual_copies_kept")
        keyedBy = section.text("keyed_by").flatMap { KeyReference($0) }
        withoutKeys = section.choice("without_keys") ?? .proceed
    }

    /// The value of `kind`.
    package var kind: String { type(of: settings).name }
    /// What all stores of its kind have in common.
    package var traits: StoreTraits { type(of: settings).traits }
    /// The ids that its rows hold for other stores.
    package var keys: [KeyRule] { (settings as? any TableKind)?.claims.keys ?? [] }

    /// The same store with other settings.
    package func with(_ settings: any StoreKind) -> StoreConfiguration {
        var copy = self
        copy.settings = settings
        return copy
    }

    /// Whether a key of this store is where another one's ids are found.
    package func has(_ key: KeyRule, for other: StoreConfiguration) -> Bool {
        other.keyedBy?.store == name && other.keyedBy?.key == key.name
    }
}

extension StoreConfiguration: Equatable {
    package static func == (one: Self, two: Self) -> Bool {
        one.name == two.name && AnyHashable(one.settings) == AnyHashable(two.settings)
            && one.backupsKept == two.backupsKept
            && one.residualCopiesKept == two.residualCopiesKept && one.keyedBy == two.keyedBy
            && one.withoutKeys == two.withoutKeys
    }
}
