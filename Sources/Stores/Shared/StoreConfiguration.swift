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
        one.name == two.name && one.settings.equals(two.settings)
            && one.backupsKept == two.backupsKept
            && one.residualCopiesKept == two.residualCopiesKept && one.keyedBy == two.keyedBy
            && one.withoutKeys == two.withoutKeys
    }
}

extension StoreConfiguration {
    /// The keys of `[[store]]` and of the sections below it.
    package static func settings(_ kinds: [any StoreKind.Type]) -> [Setting] {
        .of(.store, kinds, common: common(kinds))
    }

    private static func common(_ kinds: [any StoreKind.Type]) -> [Setting] {
        [
            Setting(
                .store,
                "name",
                .text(.name),
                .required(example: .text("app-db")),
                "Name in requests, receipts, the journal and metrics."
            ).outsidePlans(),
            Setting(
                .store,
                "kind",
                .choice(kinds.map { $0.name }),
                .required(example: .text(kinds.first?.name ?? "")),
                SettingsTable.summaries(of: kinds)
            ),
            Setting(
                .store,
                "backups_kept",
                .duration(.zero ... .days(3650)),
                .optional(example: .duration(.days(30))),
                """
                How long backups of this store are kept, for the receipt; "0s": no backups. Not \
                set: the receipt says unknown.
                """
            ).outsidePlans(),
            Setting(
                .store,
                "residual_copies_kept",
                .duration(.zero ... .days(3650)),
                .optional(example: .duration(.days(1))),
                """
                Databases only: the longest time for which their own files hold deleted data \
                (\(kinds.compactMap { $0.traits.residualCopies }.joined(separator: ", "))). Not \
                set: the receipt names the residual copies without an end.
                """
            ).outsidePlans(),
            Setting(
                .store,
                "keyed_by",
                .text(.keyReference),
                .optional(example: .text("app-db.customer")),
                """
                The [[store.key]] of another store that holds this store's ids; each takes the \
                place of {user_id} (docs/guides/dependent-stores.md).
                """
            ),
            Setting(
                .store,
                "without_keys",
                .choice(WithoutKeys.allCases.map(\.rawValue)),
                .optional(example: .text(WithoutKeys.park.rawValue)),
                """
                When keyed_by finds no id: "proceed" completes, "park" waits for an operator. Not \
                set: "proceed".
                """
            ),
        ]
    }
}
