import Engine
import HTTP
import Lifecycle
import Providers
import Settings

extension ProviderFactory {
    /// Makes what verifies the notifications of a provider; `nil` when none are taken.
    ///
    /// - Throws: What keeps it from being set up, in one line.
    func makeReceiver(
        _ provider: ProviderConfiguration
    ) throws -> (any NotificationReceiver)? {
        switch provider.notifications.format {
        case .off:
            return nil
        case .apple:
            return AppleNotificationReceiver(
                provider: provider.name,
                clientIDs: provider.clientIDs,
                keys: try keys(of: provider, at: appleKeysURL(provider))
            )
        case .securityEvents:
            return try makeSecurityEventReceiver(provider)
        case .meta:
            return MetaNotificationReceiver(
                provider: provider.name,
                clientIDs: provider.clientIDs,
                appSecret: try notificationSecret(provider),
                statusURLPrefix: (provider.notifications.statusURL ?? "") + "/"
            )
        case .github:
            return GitHubNotificationReceiver(
                provider: provider.name,
                webhookSecret: try notificationSecret(provider)
            )
        case .kakao:
            return KakaoNotificationReceiver(
                provider: provider.name,
                adminKey: try notificationSecret(provider)
            )
        }
    }

    /// Makes what fetches security events.
    ///
    /// - Throws: What keeps it from being set up, in one line.
    func makePoller(
        _ provider: ProviderConfiguration,
        _ poll: NotificationPollConfiguration
    ) throws -> SecurityEventPoller {
        let token = try poll.tokenCredential.map { try clientSecret($0, of: provider) }
        return try SecurityEventPoller(
            url: poll.url,
            token: token,
            settings: notificationHTTP(provider),
            receiver: try makeSecurityEventReceiver(provider),
            eventLoopGroup: eventLoopGroup,
            logger: logger
        )
    }

    private func makeSecurityEventReceiver(
        _ provider: ProviderConfiguration
    ) throws -> SecurityEventReceiver {
        let settings = provider.notifications
        return SecurityEventReceiver(
            SecurityEventSettings(
                provider: provider.name,
                issuers: settings.issuer.map { [$0] } ?? SecurityEventSettings.googleIssuers,
                audiences: settings.audiences.isEmpty ? provider.clientIDs : settings.audiences,
                isTyped: settings.issuer != nil
            ),
            keys: try keys(of: provider, at: settings.keysURL ?? "")
        )
    }

    /// The same keys sign id tokens and notifications ("Fetch Apple's public key").
    private func appleKeysURL(_ provider: ProviderConfiguration) -> String {
        guard case .apple(let apple) = provider.kind else {
            return AppleProviderConfiguration.defaultBaseURL + "/auth/keys"
        }
        return apple.baseURL + "/auth/keys"
    }

    private func keys(of provider: ProviderConfiguration, at url: String) throws -> PublishedKeys {
        try PublishedKeys(
            at: url,
            notificationHTTP(provider),
            eventLoopGroup: eventLoopGroup,
            now: now,
            logger: logger
        )
    }

    /// One call at a time; the provider's own connections are not touched.
    private func notificationHTTP(_ provider: ProviderConfiguration) -> RemoteSettings {
        var settings = http(provider)
        settings.concurrency = 1
        return settings
    }

    private func notificationSecret(_ provider: ProviderConfiguration) throws -> Secret {
        try clientSecret(provider.notifications.secretCredential ?? "", of: provider)
    }
}
