import Encoding
import HTTP
import Lifecycle
import Synchronization

/// How calls prove who makes them.
enum HTTPAuthorizer: Sendable {
    case none
    /// One header: `Authorization` or the vendor's own.
    case header(name: String, value: Secret)
    case tokens(HTTPTokenSource)
    case aws(AWSSigner)

    /// The headers to add, and the token among them.
    ///
    /// - Throws: ``HTTPFailure`` when no token can be had.
    func headers(
        for message: AWSSigner.Message,
        at time: WallTime
    ) async throws(HTTPFailure) -> (headers: [(name: String, value: String)], token: Secret?) {
        switch self {
        case .none: return ([], nil)
        case .header(let name, let value):
            return ([(name: name, value: value.exposeText())], nil)
        case .tokens(let source):
            let token = try await source.token()
            guard let bearer = Authorization.bearer(token) else {
                throw HTTPFailure(.unusable, "token_url gave a token that no header can carry")
            }
            return ([(name: "Authorization", value: bearer.text)], token)
        case .aws(let signer): return (signer.headers(for: message, at: time), nil)
        }
    }
}

/// Access tokens of the client credentials grant (RFC 6749 §4.4), kept until shortly before their
/// end and fetched by one caller at a time.
final class HTTPTokenSource: Sendable {
    /// What the token endpoint gets.
    struct Client: Sendable {
        let id: String
        let secret: Secret
        /// Whether the secret goes into the body, not the header.
        let isInBody: Bool
        /// Further fields, such as `scope` or `audience`.
        let fields: [String: String]
    }

    private struct Token: Sendable {
        let secret: Secret
        let endsAt: WallTime
    }

    /// A token is replaced this long before its end: longer than one call takes.
    private static let margin = Duration.seconds(60)
    /// Of a token whose end the server does not say.
    private static let lifetimeDefault = Duration.seconds(300)
    private static let lifetimeMax = Duration.seconds(86_400)

    private let value: FetchedValue<Token>
    private let notes: Notes
    private let now: @Sendable () -> WallTime

    init(
        _ endpoint: RemoteEndpoint,
        _ client: Client,
        _ remote: RemoteClient,
        now: @escaping @Sendable () -> WallTime
    ) {
        let notes = Notes()
        self.notes = notes
        self.now = now
        value = FetchedValue(lifetime: Self.lifetimeMax, now: now) {
            switch Self.reading(await remote.send(Self.request(endpoint, client)), now()) {
            case .success(let token): return token
            case .failure(let failure):
                notes.failure = failure
                return nil
            }
        }
    }

    func token() async throws(HTTPFailure) -> Secret {
        let rejected = notes.rejected
        let soon = now() + Self.margin
        let token = await value.get { token in
            token.endsAt > soon && rejected?.isEqual(to: token.secret) != true
        }
        guard let token, token.endsAt > now(), rejected?.isEqual(to: token.secret) != true else {
            throw notes.failure
        }
        return token.secret
    }

    /// Notes that the interface refused a token before its end.
    func reject(_ token: Secret) { notes.rejected = token }

    private static func request(_ endpoint: RemoteEndpoint, _ client: Client) -> RemoteRequest {
        var fields = [("grant_type", "client_credentials")]
        fields += client.fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if client.isInBody { fields.append(("client_id", client.id)) }
        var body = HTTPCaller.encoded(fields.map { (name: $0.0, value: $0.1) })
        if client.isInBody {
            body += Array("&client_secret=".utf8)
            client.secret.withBytes { PercentEncoding.append($0, to: &body) }
        }
        var request = RemoteRequest(endpoint, .raw(body))
        request.headers = [(name: "Content-Type", value: HTTPCaller.formType)]
        if !client.isInBody { request.authorization = .client(client.id, client.secret) }
        return request
    }

    private static func reading(
        _ outcome: RemoteOutcome,
        _ now: WallTime
    ) -> Result<Token, HTTPFailure> {
        switch outcome {
        case .unsent: return .failure(HTTPFailure(.unreachable, "no connection to token_url"))
        case .lost, .oversized: return .failure(HTTPFailure(.lost, "token_url did not answer"))
        case .reply(let reply):
            guard reply.status == 200, let grant = ReplyBody(reply).grant else {
                let isRefusal = [400, 401, 403, 404].contains(reply.status)
                return .failure(
                    HTTPFailure(
                        isRefusal ? .misconfigured : .unusable,
                        "token_url answered \(reply.status) without a token"
                    )
                )
            }
            let lifetime = min(grant.lifetime ?? lifetimeDefault, lifetimeMax)
            return .success(Token(secret: grant.accessToken, endsAt: now + lifetime))
        }
    }

    private final class Notes: Sendable {
        private let state = Mutex<(failure: HTTPFailure, rejected: Secret?)>(
            (HTTPFailure(.unreachable, "no token was fetched"), nil)
        )

        var failure: HTTPFailure {
            get { state.withLock { $0.failure } }
            set { state.withLock { $0.failure = newValue } }
        }

        var rejected: Secret? {
            get { state.withLock { $0.rejected } }
            set { state.withLock { $0.rejected = newValue } }
        }
    }
}
