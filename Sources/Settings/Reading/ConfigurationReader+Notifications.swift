import Lifecycle

extension ConfigurationReader {
    /// Reads what a provider's notifications need, and reports what is missing for their format.
    mutating func notifications(
        _ section: SettingsSection,
        family: String,
        at place: SectionPlace
    ) -> NotificationConfiguration {
        let format: NotificationFormat =
            section.choice("notifications") ?? .preset(family: family)
        let isGoogle = family == "google"
        let issuer = section.text("notification_issuer") ?? section.text("issuer")
        let keysURL =
            section.text("notification_keys_url")
            ?? (isGoogle ? NotificationConfiguration.googleKeysURL : nil)
        let secret = section.text("notification_secret_credential")
        let statusURL = section.text("notification_status_url")
        var needed: [(name: String, isThere: Bool)] = []
        switch format {
        case .off, .apple: break
        case .securityEvents:
            needed = [
                ("notification_issuer", isGoogle || issuer != nil),
                ("notification_keys_url", keysURL != nil),
            ]
        case .meta:
            needed = [
                ("notification_secret_credential", secret != nil),
                ("notification_status_url", statusURL != nil),
            ]
        case .github, .kakao: needed = [("notification_secret_credential", secret != nil)]
        }
        for key in needed where !key.isThere {
            log.report(
                .missingKey,
                key.name,
                in: place,
                "notifications = \"\(format.rawValue)\" needs it"
            )
        }
        for name in ["notification_keys_url", "notification_poll_url"] {
            guard let text = section.text(name) else { continue }
            checkEncryption(text, name, isPlainAllowed: section.flag("allow_plain_http"), at: place)
        }
        return NotificationConfiguration(
            format: format,
            policy: NotificationPolicy(
                onAccountDeleted: section.choice("on_account_deleted") ?? .report,
                onLinkCut: section.choice("on_link_cut") ?? .report
            ),
            issuer: isGoogle ? section.text("notification_issuer") : issuer,
            audiences: section.texts("notification_audiences"),
            keysURL: keysURL,
            secretCredential: secret,
            statusURL: statusURL,
            poll: poll(section, format, at: place)
        )
    }

    private mutating func poll(
        _ section: SettingsSection,
        _ format: NotificationFormat,
        at place: SectionPlace
    ) -> NotificationPollConfiguration? {
        guard let url = section.text("notification_poll_url") else { return nil }
        guard format == .securityEvents else {
            log.report(
                .contradiction,
                "notification_poll_url",
                in: place,
                value: url,
                "only notifications = \"security_events\" can be fetched"
            )
            return nil
        }
        return NotificationPollConfiguration(
            url: url,
            tokenCredential: section.text("notification_poll_token_credential"),
            interval: section.duration("notification_poll_interval")
        )
    }
}
