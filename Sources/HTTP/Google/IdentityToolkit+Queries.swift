import Encoding
package import Lifecycle

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
        guard let first = accounts.first else { return .none }
        guard accounts.count == 1, let account = FirebaseAccount(first),
            UserID(account.id) == user
        else { return .failure(.unusable) }
        return .account(account)
    }
}
