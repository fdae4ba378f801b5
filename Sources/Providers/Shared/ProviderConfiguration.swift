package import Lifecycle
package import Settings

/// One `[[provider]]` section.
package struct ProviderConfiguration: Sendable {
    package let name: ProviderName
    package let kind: any ProviderKind
    /// Not empty, without repetition.
    package let clientIDs: [String]
    package let onUnrevocable: OnUnrevocable
    package let revocationDeadline: Duration
    /// Whether tokens are refreshed before they die unused.
    package let keepsTokensAlive: Bool
    /// How long an unused refresh token lives; `nil`: as documented.
    package let tokenLifetime: Duration?
    package let expiryWarning: Duration
    package let concurrency: Int
    package let ratePerSecond: Int?
    package let connection: ConnectionConfiguration
    package let notifications: NotificationConfiguration
}

extension ProviderConfiguration {
    package var kindName: String { type(of: kind).name }

    /// Reads a section whose keys and values are known to be good; `nil` without a known kind.
    ///
    /// Deadlines are compared with those of `requests`.
    init?(
        _ section: SettingsSection,
        among kinds: [any ProviderKind.Type],
        requests: RequestConfiguration,
        _ problems: inout SectionProblems
    ) {
        Self.check(section, requests, &problems)
        guard let type = section.kind as? any ProviderKind.Type else { return nil }
        name = ProviderName(section.requiredText("name"))
        kind = type.init(section, &problems)
        clientIDs = section.texts("client_ids")
        onUnrevocable = section.choice("on_unrevocable") ?? .park
        revocationDeadline = section.duration("revocation_deadline")
        keepsTokensAlive = section.flag("keep_alive")
        tokenLifetime = section.optionalDuration("token_lifetime")
        expiryWarning = section.duration("expiry_warning")
        concurrency = section.count("concurrency") ?? 1
        ratePerSecond = section.count("rate_per_second")
        connection = ConnectionConfiguration(section)
        notifications = NotificationConfiguration(
            section,
            of: type,
            among: kinds.flatMap { $0.notificationFormats },
            &problems
        )
    }

    /// What no single key can tell.
    private static func check(
        _ section: SettingsSection,
        _ requests: RequestConfiguration,
        _ problems: inout SectionProblems
    ) {
        for setting in section.settings where setting.type.isURL {
            guard let url = section.text(setting.name) else { continue }
            problems.requireHTTPS(
                url,
                setting.name,
                isPlainAllowed: section.flag("allow_plain_http")
            )
        }
        let connect = section.duration("timeout_connect")
        let total = section.duration("timeout_total")
        if total > .zero, connect > total {
            problems.report(
                .contradiction,
                "timeout_connect",
                value: DurationText.format(connect),
                "it must not be longer than timeout_total, which is \(DurationText.format(total))"
            )
        }
        let wait = section.duration("revocation_deadline")
        let waitsAndProceeds = section.choice("on_unrevocable") == OnUnrevocable.proceed
        if waitsAndProceeds, requests.deadline > .zero, requests.gracePeriod < requests.deadline,
            requests.gracePeriod + wait >= requests.deadline
        {
            problems.report(
                .contradiction,
                "revocation_deadline",
                value: DurationText.format(wait),
                "with requests.grace_period it must stay below requests.deadline, which is "
                    + DurationText.format(requests.deadline)
            )
        }
    }
}
