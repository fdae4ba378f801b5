import Encoding
import Synchronization

/// The accounts of Firebase Authentication, and of the tenants of Identity Platform.
extension CloudFamily {
    func answerAccounts(_ call: Call, _ parts: [String]) throws(Refusal) -> Reply {
        let isTenant = parts.count == 6 && parts[3] == "tenants"
        guard parts.count == 4 || isTenant, parts[0] == "v1", parts[1] == "projects" else {
            throw Refusal(404, "Not found")
        }
        guard parts[2] == configuration.project else {
            throw Refusal(403, "Permission denied on the project.", word: "PERMISSION_DENIED")
        }
        let tenant = isTenant ? parts[4] : ""
        guard state.withLock({ $0.accounts[tenant] != nil }) else {
            throw Refusal(400, "TENANT_NOT_FOUND")
        }
        switch (call.method, parts[parts.count - 1]) {
        case ("POST", "accounts:lookup"): return try lookUp(call, tenant)
        case ("POST", "accounts:query"): return try queryAccounts(call, tenant)
        case ("GET", "accounts:batchGet"): return try listAccounts(call, tenant)
        case ("POST", "accounts:update"): return try update(call, tenant)
        case ("POST", "accounts:delete"): return try delete(call, tenant)
        default: throw Refusal(404, "Not found")
        }
    }

    /// Whose account a lookup of one account is about.
    func lookedUp(_ call: Call) -> String? {
        guard call.path.hasSuffix("accounts:lookup") else { return nil }
        let ids = Self.ids(call.json)
        return ids.count == 1 ? ids[0] : nil
    }

    private static func ids(_ lookup: JSONValue?) -> [String] {
        lookup?["localId"]?.array?.compactMap(\.string) ?? []
    }

    /// Unknown ids are left out; without any known one there is no `users` at all.
    private func lookUp(_ call: Call, _ tenant: String) throws(Refusal) -> Reply {
        let ids = Self.ids(try read(call))
        guard ids.count <= 100 else { throw Refusal(400, "TOO_MANY_IDENTIFIERS") }
        let found = state.withLock { state in
            ids.compactMap { state.accounts[tenant]?[ExactText($0)] }
        }
        return .json([
            "kind": "identitytoolkit#GetAccountInfoResponse",
            "users": found.isEmpty ? nil : .array(found.map(json)),
        ])
    }

    /// Only the first expression is heeded; a count of zero and no `userInfo` is nobody.
    private func queryAccounts(_ call: Call, _ tenant: String) throws(Refusal) -> Reply {
        let query = try read(call)
        let id = query["expression"]?.array?.first.map { $0["userId"]?.string ?? "" }
        // An int64 in JSON is a text (protobuf.dev, "ProtoJSON Format").
        guard id != "", let limit = query["limit"].map({ Int($0.string ?? "") }) ?? 500,
            (1...500).contains(limit)
        else { throw Refusal(400, "INVALID_ARGUMENT", word: "INVALID_ARGUMENT") }
        guard configuration.knowsAccountQuery else {
            throw Refusal(501, "Not implemented.", word: "UNIMPLEMENTED")
        }
        let found = state.withLock { state -> [CloudAccount] in
            if let decoy = state.queryDecoy { return [decoy] }
            let accounts = state.accounts[tenant, default: [:]]
            guard let id else { return accounts.values.sorted { $0.localID < $1.localID } }
            return accounts[ExactText(id)].map { [$0] } ?? []
        }
        guard query["returnUserInfo"]?.bool ?? true else {
            return .json(["recordsCount": "\(found.count)"])
        }
        let page = found.prefix(limit)
        return .json([
            "recordsCount": "\(page.count)",
            "userInfo": page.isEmpty ? nil : .array(page.map(json)),
        ])
    }

    /// By their ids; a token stands for the last one of a page.
    private func listAccounts(_ call: Call, _ tenant: String) throws(Refusal) -> Reply {
        guard let size = call.query["maxResults"].map({ Int($0) }) ?? 20,
            (1...1000).contains(size)
        else { throw Refusal(400, "INVALID_PAGE_SELECTION") }
        let token = call.query["nextPageToken"]
        return state.withLock { state in
            var rest = state.accounts[tenant, default: [:]].values
                .sorted { Self.precedes($0.localID, $1.localID) }
            if let token { rest = rest.filter { Self.precedes(token, $0.localID) } }
            let limit = min(size, configuration.pageMax)
            let page = rest.prefix(limit)
            let end = page.last?.localID
            return .json([
                "kind": "identitytoolkit#DownloadAccountResponse",
                "users": page.isEmpty ? nil : .array(page.map(json)),
                // A page that is full has one, also where nothing follows (firebase-tools, #3231).
                "nextPageToken": JSONValue(page.count == limit ? end : nil),
            ])
        }
    }

    private func json(_ account: CloudAccount) -> JSONValue {
        let infos = account.links.map { link -> JSONValue in
            ["providerId": .string(link.providerID), "rawId": .string(link.rawID)]
        }
        return [
            "localId": .string(account.localID),
            "providerUserInfo": infos.isEmpty ? nil : .array(infos),
            "validSince": "\(account.validSinceSeconds)",
            "createdAt": "\(account.createdAtMilliseconds)",
        ]
    }

    private func update(_ call: Call, _ tenant: String) throws(Refusal) -> Reply {
        let change = try read(call)
        guard let id = change["localId"]?.string else { throw Refusal(400, "MISSING_LOCAL_ID") }
        let isKnown = state.withLock { state in
            guard state.accounts[tenant]?[ExactText(id)] != nil else { return false }
            if let since = change["validSince"]?.string.flatMap({ Int64($0) }) {
                state.accounts[tenant]?[ExactText(id)]?.validSinceSeconds = since
            }
            return true
        }
        guard isKnown else { throw Refusal(400, "USER_NOT_FOUND") }
        return .json(["kind": "identitytoolkit#SetAccountInfoResponse", "localId": .string(id)])
    }

    private func delete(_ call: Call, _ tenant: String) throws(Refusal) -> Reply {
        guard let id = try read(call)["localId"]?.string else {
            throw Refusal(400, "MISSING_LOCAL_ID")
        }
        let removed = state.withLock { $0.accounts[tenant]?.removeValue(forKey: ExactText(id)) }
        guard removed != nil else { throw Refusal(400, "USER_NOT_FOUND") }
        return .json(["kind": "identitytoolkit#DeleteAccountResponse"])
    }
}
