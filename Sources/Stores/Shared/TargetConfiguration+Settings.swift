import Lifecycle
package import Settings

extension TargetConfiguration {
    /// The keys of `[[target]]` and of the sections below it.
    package static func settings(_ kinds: [any StoreKind.Type]) -> [Setting] {
        .of(.target, kinds, common: common(kinds))
    }

    private static func common(_ kinds: [any StoreKind.Type]) -> [Setting] {
        [
            Setting(
                .target,
                "name",
                .text(.name),
                .required(example: .text("app-db")),
                "Name in requests, receipts, the journal and metrics."
            ).outsidePlans(),
            Setting(
                .target,
                "kind",
                .choice(kinds.map { $0.name }),
                .required(example: .text(kinds.first?.name ?? "")),
                SettingsTable.summaries(of: kinds)
            ),
            Setting(
                .target,
                "backups_kept",
                .duration(.zero ... .days(3650)),
                .optional(example: .duration(.days(30))),
                """
                How long backups of this store are kept, for the receipt; "0s": no backups. Not \
                set: the receipt says unknown.
                """
            ).outsidePlans(),
            Setting(
                .target,
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
                .target,
                "keyed_by",
                .text(.keyReference),
                .optional(example: .text("app-db.customer")),
                """
                The [[target.key]] of another target that holds this store's ids; each takes the \
                place of {user_id} (docs/guides/dependent-targets.md).
                """
            ),
            Setting(
                .target,
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
