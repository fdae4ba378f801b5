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
        guard let list = users.array else { return .failure(.unusable) }
        return only(user, of: list)
    }

    private static func only(_ user: UserID, of accounts: [JSONValue]) -> Found {
        guard let first = accounts.first else { return .none }
        // An account that was not asked for says nothing about the one that was.
        guard accounts.count == 1, let account = FirebaseAccount(first),
            UserID(account.id) == user
        else { return .failure(.unusable) }
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

/// What finds accounts by other means than a lookup.
extension IdentityToolkit {
    /// Some accounts of a listing, and how it goes on.
    package enum Listing: Sendable {
        /// Ids in no order that is documented; `next` is `nil` behind the last one.
        case page([UserID], next: Secret?)
        case failure(EffectFailure)
    }

    /// Accounts of a page: the most that `accounts:batchGet` gives.
    static let pageSize = 1000
    /// Bytes of a page: a thousand whole records, where the selector of fields is not heeded.
    package static let answerMax = 8 << 20

    /// Asks for an account by `accounts:query`, which a purge does not use.
    ///
    /// Documented ("REST Resource: projects.accounts", `SqlExpression`, `QueryUserInfoResponse`):
    /// the condition is "a string that the account's local ID should match", `recordsCount` is the
    /// number of accounts in the answer, and the permission is that of a lookup. Not documented:
    /// how soon a deletion shows, and whether a count of zero is written or left out.
    ///
    /// - Returns: As ``find(_:)``; an account that was not asked for is `.unusable`, and a project
    ///   that does not know the query is `.misconfigured`: nothing is called gone unseen.
    package func query(_ user: UserID) async -> Found {
        // Firebase's emulator answers 501 "expression is not implemented" (firebase-tools,
        // `emulator/auth/operations.ts`).
        guard !isEmulator else { return await find(user) }
        guard Self.mayExist(user) else { return .none }
        var expression = JSONBody()
        expression.add("userId", user.exposeText())
        var body = JSONBody()
        body.add("returnUserInfo", flag: true)
        // One more than there can be.
        body.add("limit", "2")
        body.add("expression", list: [expression])
        let reading = await client.call(
            RemoteRequest(queries, .json(body)),
            Self.replies(alsoNone: false)
        )
        if let failure = Self.failure(reading) { return .failure(failure) }
        return Self.found(user, in: reading.json)
    }

    /// Asks for the page of all accounts behind the one that brought `token` ("Method:
    /// projects.accounts.batchGet").
    package func list(after token: Secret?) async -> Listing {
        var request = RemoteRequest(listing)
        var query = FormBody()
        query.add("maxResults", String(Self.pageSize))
        // What else there is of a person stays where it is ("System parameters", `fields`).
        query.add("fields", "users/localId,nextPageToken")
        if let token { query.add("nextPageToken", token) }
        request.query = query
        let reading = await client.call(request, Self.replies(alsoNone: false))
        if let failure = Self.failure(reading) { return .failure(failure) }
        // The last page may have a token, too; what that leads to is empty (firebase-tools,
        // `accountExporter.ts`).
        guard let users = reading.json?["users"] else { return .page([], next: nil) }
        guard let list = users.array else { return .failure(.unusable) }
        var ids: [UserID] = []
        for user in list {
            guard let id = user["localId"]?.string else { return .failure(.unusable) }
            // One that no request can name was never erased.
            if let id = UserID(id) { ids.append(id) }
        }
        let next = list.isEmpty ? "" : reading.json?["nextPageToken"]?.string ?? ""
        return .page(ids, next: next.isEmpty ? nil : Secret(next))
    }

    /// Asks the query for an account that cannot be; `nil` when all is well.
    package func diagnoseQuery() async -> EffectFailure? {
        guard let nobody = Self.nobody else { return nil }
        if case .failure(let failure) = await query(nobody) { return failure }
        return nil
    }

    private static func found(_ user: UserID, in answer: JSONValue?) -> Found {
        var accounts: [JSONValue] = []
        if let list = answer?["userInfo"] {
            guard let list = list.array else { return .failure(.unusable) }
            accounts = list
        }
        if let count = answer?["recordsCount"] {
            guard count.string == String(accounts.count) else { return .failure(.unusable) }
        }
        return only(user, of: accounts)
    }
}

/// One account as Firebase reports it; it holds names of a person.
package struct FirebaseAccount: Sendable, Redacted {
    /// One entry of `providerUserInfo`.
    package struct Link: Sendable, Redacted {
        /// Such as `apple.com`, `password` or `oidc.example`.
        package let providerID: String
        /// The provider's own name for the user.
        package let rawID: Secret?

        package var description: String { providerID }
    }

    /// Personal.
    package let id: String
    package let createdAt: WallTime?
    package let links: [Link]

    init?(_ json: JSONValue) {
        guard let id = json["localId"]?.string else { return nil }
        self.id = id
        createdAt = json["createdAt"]?.string.flatMap { Int64($0) }
            .map { WallTime(unixMilliseconds: $0) }
        var links: [Link] = []
        if let infos = json["providerUserInfo"] {
            guard let list = infos.array else { return nil }
            for info in list {
                guard let providerID = info["providerId"]?.string else { return nil }
                let rawID = info["rawId"]?.string ?? info["federatedId"]?.string
                links.append(Link(providerID: providerID, rawID: rawID.map { Secret($0) }))
            }
        }
        self.links = links
    }
}
