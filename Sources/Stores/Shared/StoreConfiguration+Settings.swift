import Lifecycle
package import Settings

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
