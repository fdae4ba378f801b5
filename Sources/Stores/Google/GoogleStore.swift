import Engine
import HTTP
import Lifecycle

/// A store of Google's.
protocol GoogleStore: PurgeStore {
    /// What a token must be good for.
    static var scopes: [String] { get }

    var session: GoogleSession { get }
}

extension GoogleStore {
    var clock: StoreClock { session.clock }

    package func shutdown() async { await session.client.shutdown() }
}

extension GoogleAccess {
    /// Makes a store that works on one user at a time, and at most eight objects of theirs.
    func open<Store: GoogleStore>(
        _ environment: StoreEnvironment,
        _ make: (GoogleSession) throws -> Store
    ) async throws -> Store {
        try await open(
            for: environment.owner,
            scopes: Store.scopes,
            in: environment.adapters,
            adjust: {
                // A page of 1,000 names of up to 1,024 bytes, some of them escaped.
                $0.answerMax = 8 << 20
                $0.concurrency = OrderPool.widthMax
            },
            { client, settings in
                try make(
                    GoogleSession(client: client, settings: settings, clock: environment.clock)
                )
            }
        )
    }
}

extension CallFailure {
    /// What the failure of an inspection means, in a sentence for an operator.
    ///
    /// - Parameters:
    ///   - place: What was called.
    ///   - withOutages: Whether failures count that waiting mends.
    /// - Returns: At most one.
    func findings(at place: String, withOutages: Bool) -> [String] {
        var isElsewhere = false
        if case .refusesAll = failure { isElsewhere = true }
        guard withOutages || isElsewhere || failure == .misconfigured else { return [] }
        guard !isElsewhere, !isNotFound else {
            return [
                "\(place): google answers 404, so this is the wrong endpoint, or what is named is"
                    + " not there: check base_url, the project and the name"
            ]
        }
        return [Self.sentence(failure, place)]
    }

    private static func sentence(_ failure: EffectFailure, _ place: String) -> String {
        switch failure {
        case .misconfigured:
            "google refuses the service account or the request for \(place): check its name, the"
                + " project, the role of the account, its key, and this machine's clock"
        case .unreachable: "cannot reach \(place): check the network and base_url"
        case .throttled: "\(place): the quota is used up; try again later"
        case .lost: "\(place): the connection broke before an answer came; try again"
        case .unusable, .rejected, .refused, .refusesAll:
            "\(place): the answer is not one that google documents; check base_url"
        case .notConfigured, .sealBroken, .vaultSealed, .keys, .blocked:
            "\(place): the credential cannot be opened"
        }
    }
}

/// What a store of Google's is called with.
struct GoogleSession: Sendable {
    let client: GoogleClient
    let settings: RemoteSettings
    let clock: StoreClock
}

/// Text that ends neither a label of a host nor a name of a path.
enum HostLabel {
    static let requirement = "1 to 63 letters a-z, digits or inner '-'"

    static func accepts(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count) && text.first != "-" && text.last != "-"
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    }
}
