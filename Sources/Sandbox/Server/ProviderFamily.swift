import Encoding
import Glibc
import NIOHTTP1
import Synchronization

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

/// What every family gets from the sandbox.
struct FamilyTools: Sendable {
    let clock: SandboxClock
    let journal: CallJournal
    let address = SandboxAddress()
    /// The number of grants, and of codes and tokens, that a family keeps.
    let capacity: Int

    var book: GrantBook { GrantBook(capacity: capacity) }
    var state: BookState { BookState(book: book) }
}

/// Where the sandbox is reached, once it listens: discovery documents and issuers name it.
final class SandboxAddress: Sendable {
    private let text = Mutex("")

    var baseURL: String { text.withLock { $0 } }

    func set(_ baseURL: String) { text.withLock { $0 = baseURL } }
}

/// The sandbox's idea of the time: the machine's wall clock and an offset that tests move.
final class SandboxClock: Sendable {
    private let source: @Sendable () -> Int64
    private let offset = Mutex<Int64>(0)

    init(source: @escaping @Sendable () -> Int64) { self.source = source }

    var nowMilliseconds: Int64 { source() + offset.withLock { $0 } }

    var nowSeconds: Int64 { nowMilliseconds / 1000 }

    func setOffset(milliseconds: Int64) { offset.withLock { $0 = milliseconds } }

    /// The machine's wall clock in Unix milliseconds (clock_gettime(2), CLOCK_REALTIME).
    static func wallMilliseconds() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
