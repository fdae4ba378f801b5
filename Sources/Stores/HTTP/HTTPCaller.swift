import Encoding
import HTTP
import Lifecycle
import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// Makes the calls of a store: to its host alone, at its pace, and reads the answers strictly.
struct HTTPCaller: Sendable {
    /// What a step's call brought.
    enum Answer {
        /// The answer says that nothing is there.
        case gone
        /// Its JSON, and the header `Link`.
        case done(JSONValue, link: String?)
    }

    /// Bytes of an answer: a page of a thousand users of several KiB.
    static let answerMax = 8 << 20
    static let formType = "application/x-www-form-urlencoded"

    let remote: RemoteClient
    let base: RemoteBaseURL
    let endpoints: [HTTPStep.Method: RemoteEndpoint]
    let authorizer: HTTPAuthorizer
    let pace: CallPace
    let now: @Sendable () -> WallTime

    func send(
        _ step: HTTPStep,
        _ values: HTTPValues,
        link: String? = nil
    ) async throws(HTTPFailure) -> Answer {
        let (path, query) = try address(step, values, link)
        var (body, type) = try body(step, values)
        var headers = try step.headers.map { field throws(HTTPFailure) in
            (name: field.name, value: try field.value.fill(values, .field))
        }
        if let given = headers.first(where: { $0.name.lowercased() == "content-type" })?.value {
            type = given
        }
        if let type { headers.append((name: "Content-Type", value: type)) }
        let text = query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        let suffix = path + (text.isEmpty ? "" : "?" + text)
        guard let endpoint = endpoints[step.method] else { throw .malformed("no such method") }
        // A token may end before its time: one more try with another one.
        for isLast in [false, true] {
            try await pace.wait()
            let message = AWSSigner.Message(
                method: step.method.rawValue,
                authority: base.authority,
                path: basePath + path,
                query: query,
                body: body
            )
            let (added, token) = try await authorizer.headers(for: message, at: now())
            var request = RemoteRequest(
                endpoint,
                encodedSuffix: suffix,
                type == nil ? .none : .raw(body)
            )
            request.headers = headers + added
            let reply = try reply(await remote.send(request))
            if reply.status == 401, !isLast, let token, case .tokens(let source) = authorizer {
                source.reject(token)
                continue
            }
            return try answer(reply, step, values)
        }
        throw .malformed("no answer")
    }

    /// The path of the base URL, which the endpoints have in front.
    private var basePath: String { String(base.text.dropFirst(Self.origin(of: base).count)) }

    /// Scheme and host.
    static func origin(of base: RemoteBaseURL) -> String {
        let start = base.text.prefix { $0 != ":" } + "://"
        return String(start + base.text.dropFirst(start.count).prefix { $0 != "/" })
    }

    // MARK: Asking

    private func address(
        _ step: HTTPStep,
        _ values: HTTPValues,
        _ link: String?
    ) throws(HTTPFailure) -> (path: String, query: [(name: String, value: String)]) {
        if let link {
            let parts = link.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            let pairs = (parts.count > 1 ? parts[1] : "").split(separator: "&")
            let query = pairs.map { pair in
                let pair = pair.split(
                    separator: "=",
                    maxSplits: 1,
                    omittingEmptySubsequences: false
                )
                return (name: String(pair[0]), value: pair.count > 1 ? String(pair[1]) : "")
            }
            return (String(parts[0]), query)
        }
        let query = try fill(step.query, values).map {
            (name: PercentEncoding.encode($0.name), value: PercentEncoding.encode($0.value))
        }
        return (try step.path.fill(values, .path), query)
    }

    /// Without the cursor of a first page, which has none.
    private func fill(
        _ fields: [HTTPStep.Field],
        _ values: HTTPValues
    ) throws(HTTPFailure) -> [(name: String, value: String)] {
        var filled: [(name: String, value: String)] = []
        for field in fields where field.value.whole != .cursor || values.cursor != nil {
            filled.append((name: field.name, value: try field.value.fill(values, .field)))
        }
        return filled
    }

    private func body(
        _ step: HTTPStep,
        _ values: HTTPValues
    ) throws(HTTPFailure) -> (bytes: [UInt8], type: String?) {
        switch step.body {
        case .none: return ([], nil)
        case .json(let json):
            var writer = JSONWriter()
            writer.value(try json.fill(values) ?? .null)
            return (writer.bytes, "application/json")
        case .form(let fields): return (Self.encoded(try fill(fields, values)), Self.formType)
        }
    }

    static func encoded(_ fields: [(name: String, value: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in fields {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            PercentEncoding.append(field.name.utf8, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            PercentEncoding.append(field.value.utf8, to: &bytes)
        }
        return bytes
    }

    // MARK: Reading

    private func reply(_ outcome: RemoteOutcome) throws(HTTPFailure) -> RemoteReply {
        switch outcome {
        case .reply(let reply): return reply
        case .unsent where remote.didRefusePeer:
            throw HTTPFailure(
                .misconfigured,
                "the host has a private address (allow_private_addresses)"
            )
        case .unsent:
            throw HTTPFailure(.unreachable, "no connection, or no certificate for the host")
        case .lost: throw HTTPFailure(.lost, "no whole answer in time")
        case .oversized: throw HTTPFailure(.unusable, "the answer is larger than 8 MiB")
        }
    }

    private func answer(
        _ reply: RemoteReply,
        _ step: HTTPStep,
        _ values: HTTPValues
    ) throws(HTTPFailure) -> Answer {
        let body = ReplyBody(reply)
        // A proxy, or a page of maintenance, says nothing of a user.
        if case .page = body {
            throw failure(reply, "the server answered \(reply.status) with HTML")
        }
        if step.gone.contains(reply.status) {
            guard !step.goneIf.isEmpty else { return .gone }
            for condition in step.goneIf where try condition.holds(in: body.json ?? .null, values) {
                return .gone
            }
        }
        guard step.status.contains(reply.status) else {
            let cause = "the server answered \(reply.status)"
            guard step.forEach != nil, [404, 410].contains(reply.status) else {
                throw failure(reply, cause)
            }
            throw .missing(cause)
        }
        guard step.needsJSON else { return .done(.null, link: reply.link) }
        guard let json = body.json else {
            throw .malformed("the answer is no JSON, or not strict JSON")
        }
        return .done(json, link: reply.link)
    }

    private func failure(_ reply: RemoteReply, _ cause: String) -> HTTPFailure {
        switch reply.status {
        case 429, 503:
            let pause = reply.retryAfter.flatMap { RetryAfter.duration($0, now: now()) }
            return HTTPFailure(.throttled(retryAfter: pause), cause)
        // A redirect is not followed. What is missing, and is not said to be gone, is a wrong path.
        case 300...399, 401, 403, 404, 405, 410: return HTTPFailure(.misconfigured, cause)
        default: return HTTPFailure(.unusable, cause)
        }
    }

    // MARK: Links

    /// What follows the base URL in the link to the next page.
    ///
    /// - Throws: ``HTTPFailure`` for a link to another place, where the secret must not go.
    func suffix(of link: String) throws(HTTPFailure) -> String {
        let text =
            link.hasPrefix("/") && !link.hasPrefix("//") ? Self.origin(of: base) + link : link
        let isPlain = text.utf8.allSatisfy {
            (0x21...0x7e).contains($0) && !"\\#\"<>^`{|}".utf8.contains($0)
        }
        guard isPlain, text.hasPrefix(base.text + "/") else {
            throw HTTPFailure(.unusable, "the link to the next page leads to another place")
        }
        let suffix = String(text.dropFirst(base.text.count))
        let path = suffix.prefix { $0 != "?" }.lowercased().replacing("%2e", with: ".")
        let parts = path.split(separator: "/")
        guard !parts.contains("."), !parts.contains(".."), !path.contains("%2f") else {
            throw HTTPFailure(.unusable, "the link to the next page leads to another place")
        }
        return suffix
    }
}

/// Spreads calls over time.
final class CallPace: Sendable {
    private let interval: Duration?
    private let clock: StoreClock
    private let next = Mutex(Duration.zero)

    init(perMinute: Int?, _ clock: StoreClock) {
        interval = perMinute.map { .seconds(60) / max(1, $0) }
        self.clock = clock
    }

    /// Waits for the next call's turn.
    ///
    /// - Throws: ``HTTPFailure`` when the work is called off.
    func wait() async throws(HTTPFailure) {
        guard let interval else { return }
        let now = clock.uptime()
        let turn = next.withLock { next in
            let turn = max(next, now)
            next = turn + interval
            return turn
        }
        guard turn > now else { return }
        do { try await clock.rest(turn - now) } catch {
            throw HTTPFailure(.unreachable, "the call was called off")
        }
    }
}

/// Why a step did not do its work; holds no id and no text of the server.
struct HTTPFailure: Error, Hashable {
    let failure: EffectFailure
    /// For an operator.
    let cause: String
    /// What an earlier step had named is not there.
    var isMissing = false

    init(_ failure: EffectFailure, _ cause: String) {
        self.failure = failure == .rejected ? .unusable : failure
        self.cause = cause
    }

    static let ambiguousID = HTTPFailure(
        .unusable,
        "an id could change the call around it, or mean another user"
    )
    static let noValue = HTTPFailure(.unusable, "a placeholder has no value")

    /// A 404 or 410 of a thing or job that an earlier step has named, so the address is right.
    static func missing(_ cause: String) -> HTTPFailure {
        var failure = HTTPFailure(.unusable, cause)
        failure.isMissing = true
        return failure
    }

    static func malformed(_ what: String) -> HTTPFailure { HTTPFailure(.unusable, what) }
}
