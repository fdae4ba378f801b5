import Lifecycle
package import Settings

/// Security event tokens (RFC 8417), pushed as RFC 8935 says or polled as RFC 8936 says.
package struct SecurityEvents: NotificationFormat {
    package static let name = "security_events"

    private let issuers: [String]
    /// Empty: the client ids.
    private let audiences: [String]
    private let keysURL: String
    /// Whether tokens must be typed as OpenID Shared Signals Framework 1.0 says.
    private let isTyped: Bool

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        let transmitter = section.kind as? any SecurityEventTransmitter.Type
        let issuer = section.text("notification_issuer") ?? section.text("issuer")
        let keysURL = section.text("notification_keys_url") ?? transmitter?.keysURL
        if issuer == nil, transmitter == nil {
            Self.reportMissing("notification_issuer", &problems)
        }
        if keysURL == nil { Self.reportMissing("notification_keys_url", &problems) }
        issuers = issuer.map { [$0] } ?? transmitter?.issuers ?? []
        audiences = section.texts("notification_audiences")
        self.keysURL = keysURL ?? ""
        isTyped = issuer != nil
    }

    package func makeReceiver(_ setup: ProviderSetup) throws -> any NotificationReceiver {
        try receiver(setup)
    }

    func receiver(_ setup: ProviderSetup) throws -> SecurityEventReceiver {
        SecurityEventReceiver(
            provider: setup.name,
            issuers: issuers,
            audiences: audiences.isEmpty ? setup.clientIDs : audiences,
            isTyped: isTyped,
            keys: try setup.keys(at: keysURL)
        )
    }
}

/// Where security events are fetched, instead of being pushed (RFC 8936).
package struct SecurityEventPolling: Sendable {
    private let events: SecurityEvents
    private let url: String
    /// The bearer token, if the transmitter wants one.
    private let tokenCredential: String?
    package let interval: Duration

    /// Reads the keys of ``SecurityEvents/polling``; `nil` when events are pushed.
    init?(_ section: SettingsSection, _ events: SecurityEvents) {
        guard let url = section.text("notification_poll_url") else { return nil }
        (self.events, self.url) = (events, url)
        tokenCredential = section.text("notification_poll_token_credential")
        interval = section.duration("notification_poll_interval")
    }

    /// Makes what fetches the events.
    ///
    /// - Throws: What keeps it from being set up, in one line.
    package func makePoller(_ setup: ProviderSetup) throws -> SecurityEventPoller {
        let token = try tokenCredential.map(setup.secret)
        return try SecurityEventPoller(
            url: url,
            token: token,
            settings: setup.notificationHTTP,
            receiver: try events.receiver(setup),
            in: setup.environment
        )
    }
}

/// A kind of provider whose vendor sends security events from a place that is known.
package protocol SecurityEventTransmitter: ProviderKind {
    /// The vendor's name in texts.
    static var vendor: String { get }
    /// What `iss` of a token and of a subject may be.
    static var issuers: [String] { get }
    /// The key set (`jwks_uri`).
    static var keysURL: String { get }
}
