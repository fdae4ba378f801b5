import Encoding
package import HTTP
package import Lifecycle
import NIOHTTP1
package import Settings

/// Security event tokens (RFC 8417), pushed as RFC 8935 says or polled as RFC 8936 says.
package struct SecurityEvents: NotificationFormat {
    package static let name = "security_events"

    private let issuers: [String]
    /// Empty: the client ids.
    private let audiences: [String]
    private let keysURL: String
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
    private let tokenCredential: String?
    package let interval: Duration

    /// Reads the keys of ``SecurityEvents/polling``; `nil` when events are pushed.
    init?(_ section: SettingsSection, _ events: SecurityEvents) {
        guard let url = section.text("notification_poll_url") else { return nil }
        (self.events, self.url) = (events, url)
        tokenCredential = section.text("notification_poll_token_credential")
        interval = section.duration("notification_poll_interval")
    }

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
    static var vendor: String { get }
    static var issuers: [String] { get }
    static var keysURL: String { get }
}

/// Fetches security event tokens from a transmitter (RFC 8936), for a machine that nobody can push
/// to.
package struct SecurityEventPoller: Sendable {
    /// Tokens of one page; as many of the longest fit into the largest answer.
    static let eventsMax = RemoteSettings.answerMaxDefault / IDToken.sizeMax

    private let http: RemoteClient
    private let endpoint: RemoteEndpoint
    private let authorization: Authorization?
    /// Believes the tokens or not; shut down together with this.
    private let receiver: SecurityEventReceiver

    /// - Throws: ``SetupError`` when the URL or the CA file cannot be used.
    package init(
        url: String,
        token: Secret?,
        settings: RemoteSettings,
        receiver: SecurityEventReceiver,
        in environment: AdapterEnvironment
    ) throws(SetupError) {
        self.receiver = receiver
        authorization = token.flatMap { Authorization.bearer($0) }
        endpoint = try RemoteEndpoint(try RemoteBaseURL(url, settings), path: "", method: .POST)
        // Last of what can fail: a client must be shut down once it exists.
        http = try RemoteClient(settings, in: environment)
    }

    /// Acknowledges what was dealt with and fetches the next page, without waiting for one.
    ///
    /// - Parameters:
    ///   - acknowledged: Events that are durable here (§2.2, `ack`).
    ///   - refused: Events that were not believed (§2.2, `setErrs`).
    ///   - now: The time that the tokens are judged by.
    /// - Returns: What is to be acknowledged or refused next.
    /// - Throws: ``PollFailure`` when the transmitter did not answer as the RFC says.
    package func fetch(
        acknowledging acknowledged: [String],
        refusing refused: [String: NotificationRefusal.Kind],
        at now: WallTime
    ) async throws(PollFailure) -> PolledPage {
        var body = JSONBody()
        body.add("maxEvents", Self.eventsMax)
        body.add("returnImmediately", flag: true)
        if !acknowledged.isEmpty { body.add("ack", texts: acknowledged) }
        let errors = refused.sorted { $0.key < $1.key }.map { id, kind in
            let error = SecurityEventReceiver.error(kind)
            var member = JSONBody()
            member.add("err", error.code)
            member.add("description", error.text)
            return (name: id, body: member)
        }
        if !errors.isEmpty { body.add("setErrs", objects: errors) }
        var request = RemoteRequest(endpoint, .json(body))
        request.authorization = authorization
        guard case .reply(let reply) = await http.send(request) else {
            throw PollFailure(code: "unreachable")
        }
        guard reply.status == 200 else { throw PollFailure(code: "http_\(reply.status)") }
        guard let answer = JSONValue(reply.body), case .object(let sets) = answer["sets"]
        else { throw PollFailure(code: "unusable_answer") }
        return await page(sets, answer, now)
    }

    private func page(
        _ sets: [JSONValue.Member],
        _ answer: JSONValue,
        _ now: WallTime
    ) async -> PolledPage {
        var page = PolledPage()
        page.hasMore = answer["moreAvailable"]?.bool ?? false
        for set in sets.sorted(by: { $0.name < $1.name }) {
            do throws(NotificationRefusal) {
                let bytes = Array((set.value.string ?? "").utf8)
                page.verified.append((set.name, try await receiver.verify(token: bytes, at: now)))
            } catch {
                page.refused.append((set.name, error))
            }
        }
        return page
    }

    package func shutdown() async {
        await http.shutdown()
        await receiver.shutdown()
    }
}

/// Why a poll brought nothing; `code` is fit for the journal.
package struct PollFailure: Error {
    package let code: String

    package init(code: String) { self.code = code }
}

/// What one poll brought, by the names under which the events are acknowledged.
package struct PolledPage: Sendable {
    package var verified: [(id: String, notification: VerifiedNotification)] = []
    package var refused: [(id: String, refusal: NotificationRefusal)] = []
    package var hasMore = false
}
