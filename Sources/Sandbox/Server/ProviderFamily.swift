import Encoding
import NIOHTTP1

/// Stands in for the endpoints of one provider.
///
/// A family is one folder: its state behind its own lock, and its endpoints. The server calls
/// families from several event loops at once and asks the first one that claims a path. Apple is
/// served at the root, the others under their name: `/google/revoke`.
protocol ProviderFamily: Sendable {
    var name: String { get }

    /// `nil` when the path is not this family's.
    func endpoint(method: String, path: String) -> SandboxEndpoint?

    /// Acts on a call and answers it. Records it in the journal inside the family's lock, so that
    /// the order of the records is the order of the effects.
    func answer(_ call: Call) -> Reply

    func recordSkipped(_ call: Call, status: Int)

    /// What the provider answers to a caller who calls too often.
    func throttled(retryAfterSeconds: Int) -> Reply
}

extension ProviderFamily {
    func throttled(retryAfterSeconds: Int) -> Reply {
        Reply(status: 429, retryAfterSeconds: retryAfterSeconds)
    }
}

struct CallNote: Sendable {
    var grantType: String?
    var clientID: String?
    /// The code or token that the call is about.
    var token: String?
}

struct Call: Sendable {
    let endpoint: SandboxEndpoint
    let method: String
    /// The whole path, with the family's name.
    let path: String
    let query: ParsedForm
    let headers: HTTPHeaders
    let body: [UInt8]
    /// The body as a form; empty when the caller says that it is something else.
    let form: ParsedForm
    /// The fault that the answer will suffer; only for the journal.
    let fault: FaultKind?
    var note = CallNote()

    init(
        _ endpoint: SandboxEndpoint,
        _ head: HTTPRequestHead,
        path: String,
        query: ParsedForm,
        body: [UInt8],
        fault: FaultKind?
    ) {
        self.endpoint = endpoint
        method = head.method.rawValue
        (self.path, self.query) = (path, query)
        headers = head.headers
        (self.body, self.fault) = (body, fault)
        let type = head.headers.first(name: "content-type")?.lowercased() ?? ""
        form = ParsedForm(type.hasPrefix("application/x-www-form-urlencoded") ? body : [])
    }

    var json: JSONValue? { JSONValue(body) }

    var authorization: String? { header("authorization") }

    func header(_ name: String) -> String? { headers.first(name: name) }

    /// The token of `Authorization: Bearer` (RFC 6750 §2.1).
    var bearer: String? {
        guard let authorization, authorization.lowercased().hasPrefix("bearer ") else { return nil }
        return String(authorization.dropFirst(7))
    }
}

struct Reply: Sendable {
    var status: Int
    var contentType: String?
    var retryAfterSeconds: Int?
    var headers: [String: String] = [:]
    var body: [UInt8] = []

    static func json(_ value: JSONValue, status: Int = 200) -> Reply {
        Reply(
            status: status,
            contentType: "application/json; charset=utf-8",
            body: Array(value.compactText.utf8)
        )
    }
}
