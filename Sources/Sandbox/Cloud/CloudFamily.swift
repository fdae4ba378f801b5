import Encoding
import Synchronization

/// Plays what Firebase and Google Cloud offer to a service account: tokens, accounts and stores.
///
/// Sources: developers.google.com, "Using OAuth 2.0 for Server to Server Applications";
/// cloud.google.com, "Identity Toolkit API".
final class CloudFamily: ProviderFamily {
    struct State {
        /// By their ids; of the project itself under the empty name, and of each tenant.
        var accounts: [String: [ExactText: CloudAccount]] = ["": [:]]
        var queryDecoy: CloudAccount?
        /// When each access token runs out, in Unix seconds.
        var tokens: [TokenDigest: Int64] = [:]
        /// Found by the texts of their fields, too.
        var documents = PathTable<CloudDocument>(texts: { Array($0.fields.values) })
        /// Writes of Firestore that are answered ABORTED before one succeeds.
        var failingWriteCount = 0
        /// Of Cloud Storage, the soft-deleted ones included, by name and generation.
        var objects: [CloudObject] = []
        /// Of each Realtime Database, by the keys that lead there.
        var values: [String: PathTable<Int64>] = [:]
    }

    typealias Refusal = FamilyRefusal

    let name = "cloud"
    let configuration: CloudConfiguration
    let tools: FamilyTools
    let state = Mutex(State())
    /// Those of the service account; one signs.
    let keys = SigningKeys(family: "cloud")

    init(_ configuration: CloudConfiguration, _ tools: FamilyTools) {
        (self.configuration, self.tools) = (configuration, tools)
        state.withLock { $0.values[configuration.instance] = PathTable() }
    }

    func endpoint(method: String, path: String) -> SandboxEndpoint? {
        let parts = path.split(separator: "/")
        guard parts.first.map(String.init) == name, parts.count > 1 else { return nil }
        return parts[1] == "token" ? .token : .data
    }

    func answer(_ call: Call) -> Reply {
        do throws(Refusal) {
            let reply = try serve(call)
            let isLookup = call.path.hasSuffix("accounts:lookup")
            record(call, isLookup ? .checked : .served, reply.status, nil)
            return reply
        } catch {
            record(call, .refused, error.reply.status, error.code)
            return error.reply
        }
    }

    func recordSkipped(_ call: Call, status: Int) { record(call, .none, status, nil) }

    var nowSeconds: Int64 { tools.clock.nowSeconds }

    /// A body, which must be a JSON object.
    func read(_ call: Call) throws(Refusal) -> JSONValue {
        guard let json = call.json, case .object = json else { throw Refusal.malformed }
        return json
    }

    private func serve(_ call: Call) throws(Refusal) -> Reply {
        let parts = call.path.split(separator: "/").dropFirst().map(String.init)
        if parts == ["token"] { return try answerToken(call) }
        try authenticate(call)
        switch parts.first {
        case "identitytoolkit": return try answerAccounts(call, Array(parts.dropFirst()))
        case "firestore": return try answerFirestore(call, Array(parts.dropFirst()))
        case "database": return try answerDatabase(call, Array(parts.dropFirst()))
        case "storage": return try answerStorage(call, Array(parts.dropFirst()))
        default: throw Refusal(404, "Not found", word: "NOT_FOUND")
        }
    }

    private func record(
        _ call: Call,
        _ outcome: CallRecord.Outcome,
        _ status: Int,
        _ error: String?
    ) {
        var call = call
        call.note.grantType = call.form["grant_type"]
        var record = CallRecord(provider: name, call, status: status)
        record.outcome = outcome
        record.error = error
        record.subject = lookedUp(call)
        tools.journal.append(record, at: tools.clock.nowMilliseconds)
    }
}

extension FamilyRefusal {
    static let malformed = FamilyRefusal(
        400,
        "Invalid JSON payload received.",
        word: "INVALID_ARGUMENT"
    )

    /// In Google's form: `word` is the member `status`, where an interface has one; `reason` is in
    /// the first of `errors`, as Cloud Storage writes it.
    init(_ status: Int, _ message: String, word: String? = nil, reason: String? = nil) {
        let error: JSONValue = [
            "code": .integer(Int64(status)), "message": .string(message), "status": JSONValue(word),
            "errors": reason.map { [["reason": .string($0), "message": .string(message)]] },
        ]
        self.init(message, .json(["error": error], status: status))
    }
}

/// The tokens of a service account.
extension CloudFamily {
    /// Google's tokens live for an hour, less a second.
    static let tokenLifetimeSeconds: Int64 = 3599
    /// The longest span from `iat` to `exp`.
    static let assertionLifetimeMaxSeconds: Double = 3600
    /// A clock that is further ahead is refused.
    static let clockLeadSeconds: Double = 60

    var tokenURL: String { "\(tools.address.baseURL)/\(name)/token" }

    /// The key file of the service account, as the console hands it out.
    func keyFile() throws(SandboxError) -> String {
        let file: JSONValue = [
            "type": "service_account", "project_id": .string(configuration.project),
            "private_key_id": "sandbox-key",
            "private_key": .string(try keys.newest().key.privatePEM()),
            "client_email": .string(configuration.clientEmail), "token_uri": .string(tokenURL),
        ]
        return file.compactText
    }

    /// Errors of the token endpoint are RFC 6749's, not those of the interfaces.
    func answerToken(_ call: Call) throws(Refusal) -> Reply {
        let form = call.form
        guard form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer" else {
            return Self.refused("unsupported_grant_type")
        }
        guard let token = form["assertion"].flatMap({ JSONWebToken($0) }), isSigned(token),
            let claims = JSONValue(token.payload), let issued = claims["iat"]?.number,
            let end = claims["exp"]?.number, let scope = claims["scope"]?.string,
            claims["iss"]?.string == configuration.clientEmail,
            claims["aud"]?.string == tokenURL
        else { return Self.refused("invalid_grant") }
        let now = Double(nowSeconds)
        guard issued <= now + Self.clockLeadSeconds, end > now,
            end - issued <= Self.assertionLifetimeMaxSeconds
        else { return Self.refused("invalid_grant") }
        guard !scope.isEmpty else { return Self.refused("invalid_scope") }
        let access = "ya29." + TokenGenerator.text()
        let accessEnd = nowSeconds + Self.tokenLifetimeSeconds
        state.withLock { $0.tokens[TokenDigest(access)] = accessEnd }
        return .json([
            "access_token": .string(access), "expires_in": .integer(Self.tokenLifetimeSeconds),
            "token_type": "Bearer",
        ])
    }

    /// An interface wants a token of ours, or the emulators' word.
    func authenticate(_ call: Call) throws(Refusal) {
        guard let bearer = call.bearer else {
            throw Refusal(403, "The request is missing a valid API key.", word: "PERMISSION_DENIED")
        }
        if bearer == "owner" { return }
        let end = state.withLock { $0.tokens[TokenDigest(bearer)] }
        guard let end, end > nowSeconds else {
            throw Refusal(401, "Invalid authentication credentials.", word: "UNAUTHENTICATED")
        }
    }

    private func isSigned(_ token: JSONWebToken) -> Bool {
        do {
            let key = try keys.newest().key
            return token.header.alg == "RS256" && token.isSigned(by: key)
        } catch {
            return false
        }
    }

    private static func refused(_ word: String) -> Reply {
        .json(["error": .string(word), "error_description": "Invalid JWT"], status: 400)
    }
}

/// Values by paths of names with slashes between, found quickly below two names and by a text that
/// they hold: thousands of users may have some.
struct PathTable<Value: Sendable>: Sendable {
    private var values: [ExactText: Value] = [:]
    /// Paths by their first two names.
    private var roots: [ExactText: Set<ExactText>] = [:]
    private var holders: [ExactText: Set<ExactText>] = [:]
    private let texts: @Sendable (Value) -> [String]

    /// - Parameter texts: What a value can be found by.
    init(texts: @escaping @Sendable (Value) -> [String] = { _ in [] }) { self.texts = texts }

    subscript(path: String) -> Value? {
        get { values[ExactText(path)] }
        set {
            let place = ExactText(path)
            if let old = values[place] {
                for text in texts(old) { Self.remove(place, at: ExactText(text), from: &holders) }
            }
            values[place] = newValue
            guard let newValue else {
                Self.remove(place, at: Self.root(of: path), from: &roots)
                return
            }
            roots[Self.root(of: path), default: []].insert(place)
            for text in texts(newValue) { holders[ExactText(text), default: []].insert(place) }
        }
    }

    var paths: [String] { values.keys.map(\.text) }

    /// Of two paths that Swift takes for one, either.
    var all: [String: Value] {
        Dictionary(values.map { ($0.key.text, $0.value) }) { first, _ in first }
    }

    func paths(holding text: String) -> [String] {
        holders[ExactText(text), default: []].map(\.text)
    }

    /// The paths that begin with some names and go on behind them.
    func paths(below names: [String]) -> [String] {
        let prefix = names.map { $0 + "/" }.joined()
        let places =
            names.count >= 2 ? Array(roots[Self.root(of: prefix), default: []]) : Array(values.keys)
        return places.map(\.text).filter { $0.utf8.starts(with: prefix.utf8) }
    }

    private static func root(of path: String) -> ExactText {
        var slashes = 0
        let end = path.utf8.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 2
        }
        return ExactText(path[..<(end ?? path.endIndex)])
    }

    private static func remove(
        _ path: ExactText,
        at key: ExactText,
        from index: inout [ExactText: Set<ExactText>]
    ) {
        index[key]?.remove(path)
        if index[key]?.isEmpty == true { index[key] = nil }
    }
}

/// A name as Google compares it, by its bytes: Swift takes two ways to write an `é` for one.
struct ExactText: Hashable, Sendable {
    let text: String

    init(_ text: some StringProtocol) { self.text = String(text) }

    static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}
