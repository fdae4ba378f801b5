import Lifecycle

extension ConfigurationReader {
    mutating func readProviders(requests: RequestConfiguration) -> [ProviderConfiguration] {
        var providers: [ProviderConfiguration] = []
        for (entries, place) in named(.provider) {
            let family = Self.family(entries, among: ProviderFamily.allCases.map(\.rawValue))
                .flatMap(ProviderFamily.init(rawValue:))
            if let family, !family.isAvailable {
                log.report(
                    .notAvailable,
                    "kind",
                    in: place,
                    value: family.rawValue,
                    "this kind is not available in this version; take the section out"
                )
                continue
            }
            let section = SectionReader(place: place, family: family?.rawValue)
                .read(entries, log: &log)
            append(section)
            check(section, at: place, requests: requests)
            guard let family else { continue }
            let notifications = notifications(section, family: family.rawValue, at: place)
            providers.append(
                provider(
                    section,
                    kind: kind(family, section, at: place),
                    notifications: notifications
                )
            )
        }
        return providers
    }

    private func provider(
        _ section: SettingsSection,
        kind: ProviderKind,
        notifications: NotificationConfiguration
    ) -> ProviderConfiguration {
        ProviderConfiguration(
            name: ProviderName(section.text("name") ?? ""),
            kind: kind,
            clientIDs: section.texts("client_ids"),
            onUnrevocable: section.choice("on_unrevocable") ?? .park,
            revocationDeadline: section.duration("revocation_deadline"),
            keepsTokensAlive: section.flag("keep_alive"),
            tokenLifetime: section.values["token_lifetime"].map { _ in
                section.duration("token_lifetime")
            },
            expiryWarning: section.duration("expiry_warning"),
            concurrency: section.count("concurrency") ?? 1,
            ratePerSecond: section.count("rate_per_second"),
            connection: ConnectionConfiguration(
                timeoutConnect: section.duration("timeout_connect"),
                timeoutTotal: section.duration("timeout_total"),
                caFile: section.text("ca_file"),
                allowsPlainHTTP: section.flag("allow_plain_http")
            ),
            notifications: notifications
        )
    }

    private mutating func kind(
        _ family: ProviderFamily,
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> ProviderKind {
        switch family {
        case .apple: .apple(apple(section))
        case .google: .google(google(section, at: place))
        case .facebook: .facebook(facebook(section, at: place))
        case .microsoft: .microsoft(microsoft(section, at: place))
        case .github: .github(gitHub(section, at: place))
        case .x: .x(x(section, at: place))
        case .command: .command(command(section))
        case .oauth2: .oauth2(oauth2(section, at: place))
        }
    }

    /// What no single key can tell.
    private mutating func check(
        _ section: SettingsSection,
        at place: SectionPlace,
        requests: RequestConfiguration
    ) {
        let family = section.text("kind")
        for setting in SettingsTable.settings(in: .provider)
        where setting.type.isURL && (setting.family == nil || setting.family == family) {
            guard let text = section.text(setting.name) else { continue }
            checkEncryption(
                text,
                setting.name,
                isPlainAllowed: section.flag("allow_plain_http"),
                at: place
            )
        }
        let connect = section.duration("timeout_connect")
        let total = section.duration("timeout_total")
        if total > .zero, connect > total {
            log.report(
                .contradiction,
                "timeout_connect",
                in: place,
                value: DurationText.format(connect),
                "it must not be longer than timeout_total, which is \(DurationText.format(total))"
            )
        }
        let wait = section.duration("revocation_deadline")
        let waitsAndProceeds = section.choice("on_unrevocable") == OnUnrevocable.proceed
        if waitsAndProceeds, requests.deadline > .zero,
            requests.gracePeriod < requests.deadline,
            requests.gracePeriod + wait >= requests.deadline
        {
            log.report(
                .contradiction,
                "revocation_deadline",
                in: place,
                value: DurationText.format(wait),
                "with requests.grace_period it must stay below requests.deadline, which is "
                    + DurationText.format(requests.deadline)
            )
        }
    }

    mutating func checkEncryption(
        _ text: String,
        _ name: String,
        isPlainAllowed: Bool,
        at place: SectionPlace
    ) {
        guard let url = EndpointURL(text), !url.isEncrypted else { return }
        guard url.isLoopback else {
            log.report(
                .malformed,
                name,
                in: place,
                value: text,
                "tokens go over https only; plain http is for hosts on this machine"
            )
            return
        }
        guard !isPlainAllowed else { return }
        log.report(
            .contradiction,
            name,
            in: place,
            value: text,
            "use https, or for a test set allow_plain_http = true"
        )
    }

    /// A base URL as adapters append paths to it.
    static func withoutSlash(_ text: String) -> String {
        text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}
