import Encoding
package import HTTP
package import Lifecycle
import NIOHTTP1

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
