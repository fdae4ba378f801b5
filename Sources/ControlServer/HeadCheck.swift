import Control
import NIOHTTP1

/// What the head of a request says, once it is known to be acceptable.
struct CheckedHead: Sendable {
    let match: Router.Match
    let query: Substring
    let idempotencyKey: String?
    /// Empty but for a route that takes a raw body.
    let fields: [String: String]
    let keepsAlive: Bool
    /// The answer is that of a GET, without its body (RFC 9110 §9.3.2).
    let isHead: Bool
    let lastEventID: Int64?

    var route: Route { match.route }
}

/// Decides on the head alone, so that nobody's body is read before the role allows the route.
///
/// Stricter than RFC 9112 wherever two readers could disagree (§11.2, request smuggling): HTTP/1.1
/// only, origin form only, one `Host`, either a length or `chunked`, no `Expect`, no `Upgrade`.
struct HeadCheck: Sendable {
    let router: Router
    let role: ControlRole

    struct Refusal: Error {
        let problem: ControlProblem
        let keepsAlive: Bool
        var allow: [Route.Method] = []
    }

    func check(_ head: HTTPRequestHead) throws(Refusal) -> CheckedHead {
        do throws(ControlProblem) {
            try checkShape(head)
        } catch {
            throw Refusal(problem: error, keepsAlive: false)
        }
        let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        let hasBody = length > 0 || head.headers.contains(name: "transfer-encoding")
        let keepsAlive = head.isKeepAlive
        let method = head.method == .HEAD ? .GET : head.method
        let target = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        do throws(ControlProblem) {
            let match = try router.match(method: method.rawValue, path: target[0])
            try checkRole(match.route)
            let query = target.count > 1 ? target[1] : ""
            guard query.isEmpty || !match.route.queryFields.isEmpty else {
                throw ControlProblem(.malformedQuery, "this path takes no query")
            }
            guard length <= ControlLimits.bodyByteCountMax else {
                throw ControlProblem(.bodyTooLarge)
            }
            let takesRawBody = match.route.takesRawBody
            if !takesRawBody { try checkContentType(head, hasBody: hasBody) }
            guard !hasBody || takesRawBody || match.route.input != nil else {
                throw ControlProblem(.malformedHTTP, "this method and path take no body")
            }
            return CheckedHead(
                match: match,
                query: query,
                idempotencyKey: try idempotencyKey(head, route: match.route),
                fields: takesRawBody ? try forwardedFields(head) : [:],
                keepsAlive: keepsAlive,
                isHead: head.method == .HEAD,
                lastEventID: match.route.isEventStream ? lastEventID(head) : nil
            )
        } catch {
            var refusal = Refusal(problem: error, keepsAlive: keepsAlive && !hasBody)
            if error.code == .methodNotAllowed { refusal.allow = router.methods(path: target[0]) }
            throw refusal
        }
    }

    private func checkRole(_ route: Route) throws(ControlProblem) {
        guard !route.allows(role) else { return }
        throw ControlProblem(
            .forbidden,
            role == .viewer
                ? "the viewers' socket only reads, and shows no personal data; see expunged-api(7)"
                : nil
        )
    }

    private func checkShape(_ head: HTTPRequestHead) throws(ControlProblem) {
        guard head.version == .http1_1 else {
            throw ControlProblem(.malformedHTTP, "only HTTP/1.1 is spoken here")
        }
        let isPlainTarget = head.uri.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x23 }
        guard head.uri.hasPrefix("/"), !head.uri.hasPrefix("//"), isPlainTarget else {
            throw ControlProblem(.malformedHTTP, "the target must be a path")
        }
        guard head.headers["host"].count == 1 else {
            throw ControlProblem(.malformedHTTP, "exactly one Host is needed")
        }
        let lengths = head.headers["content-length"]
        let encodings = head.headers["transfer-encoding"]
        guard lengths.count + encodings.count <= 1 else {
            throw ControlProblem(.malformedHTTP, "the length of the body is ambiguous")
        }
        guard encodings.allSatisfy({ $0.lowercased() == "chunked" }) else {
            throw ControlProblem(.malformedHTTP, "the transfer encoding is not known")
        }
        let isDecimal = lengths.allSatisfy { length in
            (1...9).contains(length.utf8.count)
                && length.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        guard isDecimal else { throw ControlProblem(.malformedHTTP, "the length is malformed") }
        for name in ["expect", "upgrade", "http2-settings", "trailer"]
        where head.headers.contains(name: name) {
            throw ControlProblem(.malformedHTTP, "the field '\(name)' is not supported")
        }
    }

    private func checkContentType(_ head: HTTPRequestHead, hasBody: Bool) throws(ControlProblem) {
        let types = head.headers["content-type"]
        guard hasBody, !types.isEmpty else { return }
        let essence = types[0].prefix { $0 != ";" && $0 != " " }.lowercased()
        guard types.count == 1, essence == "application/json" else {
            throw ControlProblem(.unsupportedMediaType)
        }
    }

    /// Each at most once: a second one could be what somebody else judged.
    private func forwardedFields(
        _ head: HTTPRequestHead
    ) throws(ControlProblem) -> [String: String] {
        var fields: [String: String] = [:]
        for name in NotificationInput.fieldNames {
            let values = head.headers[name]
            guard values.count <= 1 else {
                throw ControlProblem(.malformedHTTP, "the field '\(name)' is there twice")
            }
            fields[name] = values.first
        }
        return fields
    }

    private func lastEventID(_ head: HTTPRequestHead) -> Int64? {
        head.headers.first(name: "last-event-id").map { Int64($0) ?? 0 }
    }

    private func idempotencyKey(
        _ head: HTTPRequestHead,
        route: Route
    ) throws(ControlProblem) -> String? {
        guard route.takesIdempotencyKey else { return nil }
        let keys = head.headers["idempotency-key"]
        guard let key = keys.first else { return nil }
        let isVisible = key.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        guard keys.count == 1, isVisible,
            (1...ControlLimits.idempotencyKeyByteCountMax).contains(key.utf8.count)
        else { throw ControlProblem(.malformedIdempotencyKey) }
        return key
    }
}
