import Encoding
package import HTTP
package import Lifecycle
import NIOHTTP1
package import Settings
import Synchronization

/// A subscriber's web service: one signed POST for each message.
///
/// Over https alone, to the configured URL alone; a redirect is a failure. What cannot be set up is
/// tried again with each message.
package final class WebhookChannel: MessageChannel {
    /// Bytes of an answer that are read; nothing in it counts.
    private static let answerMax = 16_384
    /// Calls at a time: enough to hide the round trip, few enough for a small service.
    package static let concurrency = 8

    private struct Link: Sendable {
        let client: RemoteClient
        let endpoint: RemoteEndpoint
        let signature: WebhookSignature
    }

    private let configuration: SubscriberConfiguration
    private let environment: AdapterEnvironment
    private struct State: Sendable {
        var link: Link?
        var isClosed = false
    }

    private let state = Mutex(State())

    package init(_ configuration: SubscriberConfiguration, in environment: AdapterEnvironment) {
        self.configuration = configuration
        self.environment = environment
    }

    /// Reads the credential and the CA file now; throws in one line what an operator has to mend.
    package func setUp() throws { _ = try linked() }

    /// Why no connection comes about, or `nil`.
    ///
    /// Nothing is sent.
    package func connectionFailure() async -> String? {
        do {
            let link = try linked()
            return await link.client.connectionFailure(link.endpoint)
        } catch {
            return "\(error)"
        }
    }

    package func send(_ message: OutgoingMessage) async -> SendResult {
        let link: Link
        do {
            link = try linked()
        } catch {
            return SendResult(failure: .misconfigured)
        }
        let body = MessageBody.bytes(of: message)
        var request = RemoteRequest(link.endpoint, .raw(body))
        let now = environment.now()
        request.headers = link.signature.headers(
            id: message.id.description,
            time: now,
            body: body
        )
        request.headers.append((name: "Content-Type", value: "application/json"))
        switch await link.client.send(request) {
        case .unsent:
            let isPrivate = link.client.didRefusePeer
            return SendResult(failure: isPrivate ? .privateAddress : .unreachable)
        case .lost: return SendResult(failure: .lost)
        case .oversized: return SendResult(failure: .refused)
        case .reply(let reply): return Self.result(of: reply, now: now)
        }
    }

    private static func result(of reply: RemoteReply, now: WallTime) -> SendResult {
        switch reply.status {
        case 200...299: return SendResult(status: reply.status)
        case 300...399: return SendResult(status: reply.status, failure: .redirected)
        default:
            let pause = reply.retryAfter.flatMap { RetryAfter.duration($0, now: now) }
            return SendResult(status: reply.status, failure: .refused, retryAfter: pause)
        }
    }

    package func shutdown() async {
        let open = state.withLock { state in
            state.isClosed = true
            return state.link
        }
        await open?.client.shutdown()
    }

    private func linked() throws -> Link {
        try state.withLock { state in
            if let link = state.link { return link }
            // A client that is made now would never be closed.
            guard !state.isClosed else { throw MessageSetupError("the channel is closed") }
            let made = try makeLink()
            state.link = made
            return made
        }
    }

    private func makeLink() throws -> Link {
        let owner = RemoteOwner.subscriber(configuration.name)
        let secret = try environment.line(configuration.secretCredential, of: owner)
        guard let signature = WebhookSignature(secret) else {
            throw MessageSetupError(
                """
                cannot use subscriber '\(configuration.name)': credential \
                '\(configuration.secretCredential)' must be 24 to 64 bytes in base64
                """
            )
        }
        var settings = RemoteSettings(
            owner: owner,
            caFile: configuration.caFile,
            concurrency: Self.concurrency
        )
        settings.allowsPrivateAddresses = configuration.allowsPrivateAddresses
        settings.timeoutTotal = configuration.timeout
        settings.timeoutConnect = min(settings.timeoutConnect, configuration.timeout)
        settings.answerMax = Self.answerMax
        // First, since a client must be shut down.
        let endpoint = try RemoteEndpoint(whole: configuration.url, method: .POST, settings)
        let client = try RemoteClient(settings, in: environment)
        return Link(client: client, endpoint: endpoint, signature: signature)
    }
}

/// Why messages cannot leave, for an operator.
package struct MessageSetupError: Error, Sendable, CustomStringConvertible {
    /// One line.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// The body of a message: type, timestamp and data, as Standard Webhooks proposes
/// (github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md, "Payload
/// structure").
///
/// Nothing in it is personal: a request is named by its id alone.
enum MessageBody {
    static func bytes(of message: OutgoingMessage) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("type", message.type)
            writer.member("timestamp", message.occurredAt.rfc3339)
            writer.name("data")
            writer.object { writer in
                switch message.topic {
                case .request, .confirmation:
                    writer.member("request_id", message.request?.description)
                    writer.member("kind", message.kind)
                    writer.member("state", message.subject)
                    writer.member("reason", message.detail)
                case .alarm:
                    writer.member("event", message.subject)
                    writer.member("severity", message.kind)
                    writer.member("text", message.detail)
                    writer.member("request_id", message.request?.description)
                }
                // Rises with each message: the later of two has the newer state.
                writer.member("sequence", message.id.sequence)
            }
        }
    }
}

/// A way on which messages leave.
package protocol MessageChannel: Sendable {
    /// Makes one attempt; it ends within a bounded time.
    func send(_ message: OutgoingMessage) async -> SendResult

    func shutdown() async
}
