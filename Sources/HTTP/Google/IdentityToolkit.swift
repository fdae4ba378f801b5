import Encoding
package import Lifecycle
import NIOHTTP1

/// The accounts of Firebase Authentication and Identity Platform, as an administrator sees them.
///
/// "Identity Toolkit API", `projects.accounts` (cloud.google.com/identity-platform/docs/reference).
package struct IdentityToolkit: Sendable {
    /// Which accounts: a project's, or those of one tenant of it.
    package struct Place: Sendable {
        /// `nil` means Google's own host.
        package let baseURL: String?
        package let project: String
        /// Identity Platform's multi-tenancy; `nil` for the project's own accounts.
        package let tenant: String?
        /// Firebase's emulator, which knows less.
        package let isEmulator: Bool

        package init(
            baseURL: String? = nil,
            project: String,
            tenant: String? = nil,
            isEmulator: Bool = false
        ) {
            (self.baseURL, self.project) = (baseURL, project)
            (self.tenant, self.isEmulator) = (tenant, isEmulator)
        }
    }

    /// What looking a user up brought; `none` when there is no such account, or not any more.
    package enum Found: Sendable {
        case account(FirebaseAccount)
        case none
        case failure(EffectFailure)
    }

    /// What changing or deleting an account brought; `none` as in ``Found``.
    package enum Change: Sendable {
        case done
        case none
        case failure(EffectFailure)
    }

    /// What a token must be good for; nothing narrower covers deletion.
    package static let scope = "https://www.googleapis.com/auth/identitytoolkit"
    /// Firebase ids have 128 characters at most ("Import users", firebase.google.com).
    static let idLengthMax = 128

    let client: GoogleClient
    let isEmulator: Bool
    let queries: RemoteEndpoint
    let listing: RemoteEndpoint
    private let lookup: RemoteEndpoint
    private let update: RemoteEndpoint
    private let delete: RemoteEndpoint

    /// - Throws: ``SetupError`` for a base URL that tokens must not go to.
    package init(
        _ place: Place,
        client: GoogleClient,
        settings: RemoteSettings
    ) throws(SetupError) {
        self.client = client
        isEmulator = place.isEmulator
        let base = try RemoteBaseURL(
            place.baseURL ?? "https://identitytoolkit.googleapis.com",
            settings
        )
        let tenant = place.tenant.map { "/tenants/\($0)" } ?? ""
        let path = "/v1/projects/\(place.project)\(tenant)/accounts:"
        lookup = try RemoteEndpoint(base, path: path + "lookup", method: .POST)
        queries = try RemoteEndpoint(base, path: path + "query", method: .POST)
        listing = try RemoteEndpoint(base, path: path + "batchGet", method: .GET)
        update = try RemoteEndpoint(base, path: path + "update", method: .POST)
        delete = try RemoteEndpoint(base, path: path + "delete", method: .POST)
    }

    package func shutdown() async { await client.shutdown() }

    /// Looks an account up; the answer for an unknown id is a 200 without `users`.
    package func find(_ user: UserID) async -> Found {
        guard Self.mayExist(user) else { return .none }
        return Self.found(user, in: await look(for: user))
    }

    private func look(for user: UserID) async -> ReplyReading {
        var body = JSONBody()
        body.add("localId", texts: [user.exposeText()])
        return await client.call(
            RemoteRequest(lookup, .json(body)),
            Self.replies(alsoNone: false)
        )
    }

    private static func found(_ user: UserID, in reading: ReplyReading) -> Found {
        if let failure = failure(reading) { return .failure(failure) }
        guard let users = reading.json?["users"] else { return .none }
        guard let list = users.array, list.count <= 1 else { return .failure(.unusable) }
        guard let first = list.first else { return .none }
        // An account that was not asked for says nothing about the one that was.
        guard let account = FirebaseAccount(first), UserID(account.id) == user else {
            return .failure(.unusable)
        }
        return .account(account)
    }

    /// Ends every session that began before `time`; id tokens live on for an hour at most.
    package func endSessions(of user: UserID, before time: WallTime) async -> Change {
        var body = JSONBody()
        body.add("localId", user.exposeText())
        body.add("validSince", String(time.unixMilliseconds / 1000))
        return await change(update, body)
    }

    package func delete(_ user: UserID) async -> Change {
        guard Self.mayExist(user) else { return .none }
        var body = JSONBody()
        body.add("localId", user.exposeText())
        return await change(delete, body)
    }

    /// Asks for an account that cannot be: a harmless call that needs the same permission; `nil`
    /// when all is well, and `refusesAll` for a 404.
    package func diagnose() async -> EffectFailure? {
        guard let nobody = Self.nobody else { return nil }
        let reading = await look(for: nobody)
        guard case .failure(let failure) = Self.found(nobody, in: reading) else { return nil }
        guard failure == .misconfigured, reading.isNotFound, let refusal = reading.refusal else {
            return failure
        }
        return .refusesAll(refusal.refusal)
    }

    /// Why a question has no answer; `nil` when it has one.
    static func failure(_ reading: ReplyReading) -> EffectFailure? {
        switch reading.meaning {
        case .failure(let failure): failure
        case .refused, .unclear: .unusable
        case .honoured: nil
        }
    }

    private func change(_ endpoint: RemoteEndpoint, _ body: JSONBody) async -> Change {
        let reading = await client.call(
            RemoteRequest(endpoint, .json(body)),
            Self.replies(alsoNone: true)
        )
        switch reading.meaning {
        case .honoured: return .done
        case .refused: return .none
        // There is no token of the user that could be refused.
        case .unclear, .failure(.rejected): return .failure(.unusable)
        case .failure(let failure): return .failure(failure)
        }
    }

    /// An id that no account has.
    static let nobody = UserID("expunged-diagnosis-\u{2014}")

    static func mayExist(_ user: UserID) -> Bool {
        user.exposeText().utf16.count <= idLengthMax
    }

    /// Errors are `{"error": {"code", "message"}}`; the message begins with a stable word.
    static func replies(alsoNone: Bool) -> ReplyTable {
        let none =
            alsoNone
            ? [ReplyRow(400, .member("error.message", .prefix(["USER_NOT_FOUND"])), .refused)] : []
        return GoogleClient.table(
            [ReplyRow(200, .object, .honoured)] + none + [
                ReplyRow(
                    400,
                    .member("error.message", .prefix(projectWords)),
                    .failure(.misconfigured)
                ),
                ReplyRow(404, .member("error", .isPresent), .failure(.misconfigured)),
                ReplyRow(501, .member("error", .isPresent), .failure(.misconfigured)),
            ]
        )
    }

    private static let projectWords = [
        "CONFIGURATION_NOT_FOUND", "PROJECT_NOT_FOUND", "INVALID_PROJECT_ID", "TENANT_NOT_FOUND",
        "INVALID_TENANT_ID", "PROJECT_DISABLED", "OPERATION_NOT_ALLOWED",
    ]
}
