package import Lifecycle
import Settings

/// What a provider's notifications are verified by, and what is done about them.
package struct NotificationConfiguration: Sendable {
    /// `nil`: none are accepted.
    package let format: (any NotificationFormat)?
    package let policy: NotificationPolicy
    /// How they are fetched; `nil` where they are pushed.
    package let poll: SecurityEventPolling?

    init(
        _ section: SettingsSection,
        of kind: any ProviderKind.Type,
        among formats: [any NotificationFormat.Type],
        _ problems: inout SectionProblems
    ) {
        let type = section.text("notifications").map { name in formats.first { $0.name == name } }
        format = (type ?? kind.usualFormat)?.init(section, &problems)
        policy = NotificationPolicy(
            onAccountDeleted: section.choice("on_account_deleted") ?? .report,
            onLinkCut: section.choice("on_link_cut") ?? .report
        )
        poll = (format as? SecurityEvents).flatMap { SecurityEventPolling(section, $0) }
        if poll == nil, let url = section.text("notification_poll_url") {
            problems.report(
                .contradiction,
                "notification_poll_url",
                value: url,
                "only notifications = \"\(SecurityEvents.name)\" can be fetched"
            )
        }
    }

    /// Keys that may name a credential which is not needed.
    package var unusedCredentialKeys: [String] {
        (format == nil ? ["notification_secret_credential"] : [])
            + (poll == nil ? ["notification_poll_token_credential"] : [])
    }

    /// Makes what verifies them; `nil` when none are accepted.
    ///
    /// - Throws: What keeps it from being set up, in one line.
    package func makeReceiver(_ setup: ProviderSetup) throws -> (any NotificationReceiver)? {
        try format?.makeReceiver(setup)
    }
}
