package import Lifecycle
package import Settings

/// One `[[target]]` section.
package struct TargetConfiguration: Sendable {
    package let name: TargetName
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
        name = TargetName(section.requiredText("name"))
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
    /// The ids that its rows hold for other targets.
    package var keys: [KeyRule] { (settings as? any TableKind)?.claims.keys ?? [] }

    /// The same target with other settings.
    package func with(_ settings: any StoreKind) -> TargetConfiguration {
        var copy = self
        copy.settings = settings
        return copy
    }

    /// Whether a key of this target is where another one's ids are found.
    package func has(_ key: KeyRule, for other: TargetConfiguration) -> Bool {
        other.keyedBy?.target == name && other.keyedBy?.key == key.name
    }
}

extension TargetConfiguration: Equatable {
    package static func == (one: Self, two: Self) -> Bool {
        one.name == two.name && AnyHashable(one.settings) == AnyHashable(two.settings)
            && one.backupsKept == two.backupsKept
            && one.residualCopiesKept == two.residualCopiesKept && one.keyedBy == two.keyedBy
            && one.withoutKeys == two.withoutKeys
    }
}
