import Synchronization

/// The accounts of Firebase Authentication.
extension CloudFamily {
    private struct Lookup: Decodable {
        let localId: [String]?
    }

    private struct Change: Decodable {
        let localId: String?
        let validSince: String?
    }

    func answerAccounts(
        _ call: ProviderCall,
        _ parts: [String]
    ) throws(Refusal) -> ProviderReply {
        guard call.method == "POST", parts.count == 4, parts[0] == "v1", parts[1] == "projects"
        else { throw Refusal(404, "Not found") }
        guard parts[2] == configuration.project else {
            throw Refusal(403, "Permission denied on the project.", word: "PERMISSION_DENIED")
        }
        switch parts[3] {
        case "accounts:lookup": return try lookUp(call)
        case "accounts:update": return try update(call)
        case "accounts:delete": return try delete(call)
        default: throw Refusal(404, "Not found")
        }
    }

    /// Whose account a lookup of one account is about.
    func lookedUp(_ call: ProviderCall) -> String? {
        guard call.path.hasSuffix("accounts:lookup") else { return nil }
        do throws(Refusal) {
            let ids = try read(Lookup.self, call).localId ?? []
            return ids.count == 1 ? ids[0] : nil
        } catch {
            return nil
        }
    }

    /// Unknown ids are left out; without any known one there is no `users` at all.
    private func lookUp(_ call: ProviderCall) throws(Refusal) -> ProviderReply {
        let ids = try read(Lookup.self, call).localId ?? []
        guard ids.count <= 100 else { throw Refusal(400, "TOO_MANY_IDENTIFIERS") }
        let found = state.withLock { state in ids.compactMap { state.accounts[$0] } }
        let users = found.map { account -> JSON in
            let infos = account.links.map { link -> JSON in
                ["providerId": .text(link.providerID), "rawId": .text(link.rawID)]
            }
            return [
                "localId": .text(account.localID),
                "providerUserInfo": infos.isEmpty ? .absent : .list(infos),
                "validSince": .text("\(account.validSinceSeconds)"),
                "createdAt": .text("\(account.createdAtMilliseconds)"),
            ]
        }
        return .json([
            "kind": "identitytoolkit#GetAccountInfoResponse",
            "users": users.isEmpty ? .absent : .list(users),
        ])
    }

    private func update(_ call: ProviderCall) throws(Refusal) -> ProviderReply {
        let change = try read(Change.self, call)
        guard let id = change.localId else { throw Refusal(400, "MISSING_LOCAL_ID") }
        let isKnown = state.withLock { state in
            guard state.accounts[id] != nil else { return false }
            if let since = change.validSince.flatMap(Int64.init) {
                state.accounts[id]?.validSinceSeconds = since
            }
            return true
        }
        guard isKnown else { throw Refusal(400, "USER_NOT_FOUND") }
        return .json([
            "kind": "identitytoolkit#SetAccountInfoResponse", "localId": .text(id),
        ])
    }

    private func delete(_ call: ProviderCall) throws(Refusal) -> ProviderReply {
        guard let id = try read(Change.self, call).localId else {
            throw Refusal(400, "MISSING_LOCAL_ID")
        }
        guard state.withLock({ $0.accounts.removeValue(forKey: id) }) != nil else {
            throw Refusal(400, "USER_NOT_FOUND")
        }
        return .json(["kind": "identitytoolkit#DeleteAccountResponse"])
    }
}
