import Encoding

/// Graph v1.0, as far as it ends sign-ins.
extension MicrosoftFamily {
    private enum Caller {
        case app(MicrosoftState.AppToken, MicrosoftConfiguration.Tenant)
        case user(GrantBook.Ticket)
    }

    func answerGraph(_ call: Call, _ parts: [String]) throws(FamilyRefusal) -> Reply {
        let status = call.method == "DELETE" ? 204 : 200
        return try service.perform(call, status: status) { state, now throws(FamilyRefusal) in
            switch try caller(call, in: state, now: now) {
            case .app(let token, let tenant):
                return try serve(call, parts, for: token, in: tenant, &state, now: now)
            case .user(let ticket):
                return try serve(call, parts, for: ticket, &state)
            }
        }
    }

    /// What a user's own token may do.
    private func serve(
        _ call: Call,
        _ parts: [String],
        for ticket: GrantBook.Ticket,
        _ state: inout MicrosoftState
    ) throws(FamilyRefusal) -> (Reply, CallRecord.Outcome) {
        let ids = MicrosoftIDs(ticket.grant)
        switch (call.method, parts) {
        case ("GET", ["me"]):
            return (.json(["id": .string(ids.objectID)]), .checked)
        case ("POST", ["me", "revokeSignInSessions"]):
            let hasScope = ticket.has(scope: "User.RevokeSessions.All")
            // "Delegated (personal Microsoft account): Not supported".
            guard hasScope, !ids.isPersonal else { throw .graphForbidden }
            state.users["\(ids.tenantID)/\(ids.objectID)"]?.validFromChain = state.book.chain
            return (Self.value(true), .revoked)
        default:
            throw .graphForbidden
        }
    }

    /// What a client may do by itself, with the roles that the tenant gave.
    private func serve(
        _ call: Call,
        _ parts: [String],
        for token: MicrosoftState.AppToken,
        in tenant: MicrosoftConfiguration.Tenant,
        _ state: inout MicrosoftState,
        now: Int64
    ) throws(FamilyRefusal) -> (Reply, CallRecord.Outcome) {
        let name = parts.count > 1 ? parts[1] : ""
        // One of the application permissions is enough.
        func permit(_ roles: String...) throws(FamilyRefusal) {
            guard !Set(roles).isDisjoint(with: tenant.roles) else { throw .graphForbidden }
        }
        func user() throws(FamilyRefusal) -> MicrosoftState.User {
            guard let user = state.user(name, in: tenant) else { throw .graphNotFound }
            return user
        }
        if call.method == "GET" { try permit("Directory.Read.All", "Directory.ReadWrite.All") }
        switch (call.method, parts[0], parts.dropFirst(2).first, parts.count) {
        case ("GET", "users", nil, 2):
            let found = try user()
            return (.json(["id": .string(found.objectID)]), .checked)
        case ("POST", "users", "revokeSignInSessions", 3):
            try permit("User.RevokeSessions.All")
            let found = try user()
            state.users["\(tenant.id)/\(found.objectID)"]?.validFromChain = state.book.chain
            return (Self.value(true), .revoked)
        case ("GET", "oauth2PermissionGrants", nil, 1):
            return (try listGrants(call, in: tenant, state, now: now), .checked)
        case ("DELETE", "oauth2PermissionGrants", nil, 2):
            try permit("DelegatedPermissionGrant.ReadWrite.All", "Directory.ReadWrite.All")
            return (try deleteGrant(name, in: tenant, &state, now: now), .revoked)
        case ("GET", "users", "appRoleAssignments", 3):
            let found = try user()
            return (Self.assignments(of: found, in: state), .checked)
        case ("DELETE", "users", "appRoleAssignments", 4),
            ("DELETE", "servicePrincipals", "appRoleAssignedTo", 4):
            try permit("AppRoleAssignment.ReadWrite.All")
            guard let key = state.assignmentKeys[parts[3]],
                MicrosoftIDs(key).tenantID == tenant.id,
                state.deletedAssignments.insert(key).inserted
            else { throw .graphNotFound }
            return (Reply(status: 204), .revoked)
        case ("GET", "servicePrincipals", nil, 1):
            let clientID = try Self.filter(call)["appId"] ?? token.clientID
            guard clients[clientID] != nil else { return (Self.list([]), .checked) }
            return (Self.list([Self.principal(of: clientID, in: tenant)]), .checked)
        default:
            // The alternate key ("Get servicePrincipal").
            guard call.method == "GET", parts.count == 1,
                let key = parts[0].wholeMatch(of: /servicePrincipals\(appId='([^']*)'\)/),
                clients[String(key.1)] != nil
            else { throw .graphNotFound }
            return (.json(Self.principal(of: String(key.1), in: tenant)), .checked)
        }
    }

    // MARK: - Permission grants

    /// Filtered by `clientId`, `principalId` and `consentType`; deleted ones stay for the lag.
    private func listGrants(
        _ call: Call,
        in tenant: MicrosoftConfiguration.Tenant,
        _ state: MicrosoftState,
        now: Int64
    ) throws(FamilyRefusal) -> Reply {
        let filter = try Self.filter(call)
        let users =
            if let objectID = filter["principalId"] {
                state.users["\(tenant.id)/\(objectID)"].map { [$0] } ?? []
            } else {
                state.users.values.filter { $0.tenantID == tenant.id }
            }
        var rows: [JSONValue] = []
        if tenant.hasTenantWideGrant, filter["principalId"] == nil {
            rows = clients.listing(provider: name, baseURL: "").map { client in
                let id = MicrosoftIDs.tenantWideGrant(of: client.clientID, in: tenant.id)
                let principal = MicrosoftIDs.servicePrincipal(of: client.clientID, in: tenant.id)
                return Self.grant(id, principal, tenant.id, principalID: nil)
            }
        }
        for key in users.flatMap(\.keys) {
            let deleted = state.deletedSeconds[key]
            let isListed = deleted.map { now < $0 + configuration.listingLagSeconds }
            guard isListed ?? (state.book.grants[key]?.isLive == true) else { continue }
            let ids = MicrosoftIDs(key)
            rows.append(
                Self.grant(ids.grantID, ids.servicePrincipal, tenant.id, principalID: ids.objectID)
            )
        }
        for name in ["clientId", "consentType"] {
            guard let value = filter[name] else { continue }
            rows = rows.filter { $0[name] == .string(value) }
        }
        return Self.list(rows)
    }

    private func deleteGrant(
        _ id: String,
        in tenant: MicrosoftConfiguration.Tenant,
        _ state: inout MicrosoftState,
        now: Int64
    ) throws(FamilyRefusal) -> Reply {
        if let key = state.grantKeys[id], MicrosoftIDs(key).tenantID == tenant.id,
            state.book.grants[key]?.isLive == true
        {
            state.book.cut(key)
            state.deletedSeconds[key] = now
            return Reply(status: 204)
        }
        let isTenantWide = clients.listing(provider: name, baseURL: "").contains { client in
            MicrosoftIDs.tenantWideGrant(of: client.clientID, in: tenant.id) == id
        }
        guard isTenantWide, tenant.hasTenantWideGrant,
            let index = state.tenants.firstIndex(where: { $0.id == tenant.id })
        else { throw .graphNotFound }
        state.tenants[index].hasTenantWideGrant = false
        return Reply(status: 204)
    }

    private static func principal(
        of clientID: String,
        in tenant: MicrosoftConfiguration.Tenant
    ) -> JSONValue {
        [
            "id": .string(MicrosoftIDs.servicePrincipal(of: clientID, in: tenant.id)),
            "appId": .string(clientID),
        ]
    }

    private static func grant(
        _ id: String,
        _ principal: String,
        _ tenantID: String,
        principalID: String?
    ) -> JSONValue {
        [
            "id": .string(id), "clientId": .string(principal),
            "consentType": principalID == nil ? "AllPrincipals" : "Principal",
            "principalId": principalID.map { .string($0) } ?? .null,
            "resourceId": .string(MicrosoftIDs.graph(in: tenantID)),
            "scope": "openid profile offline_access User.Read",
        ]
    }

    private static func assignments(
        of user: MicrosoftState.User,
        in state: MicrosoftState
    ) -> Reply {
        let keys = user.keys.filter { !state.deletedAssignments.contains($0) }
        let rows = keys.map { key -> JSONValue in
            let ids = MicrosoftIDs(key)
            return [
                "id": .string(ids.assignmentID),
                "appRoleId": "00000000-0000-0000-0000-000000000000",
                "principalId": .string(ids.objectID), "principalType": "User",
                "resourceId": .string(ids.servicePrincipal),
            ]
        }
        return list(rows)
    }

    // MARK: - Form of calls and answers

    private func caller(
        _ call: Call,
        in state: MicrosoftState,
        now: Int64
    ) throws(FamilyRefusal) -> Caller {
        guard let text = call.bearer else { throw .graphUnauthorized }
        let digest = TokenDigest(text)
        if let token = state.appTokens[digest] {
            guard now < token.expiresSeconds, let tenant = state.tenant(token.tenantID) else {
                throw .graphUnauthorized
            }
            return .app(token, tenant)
        }
        // An access token lives out its hour, whatever happened to the grant.
        guard let token = state.book.token(digest), token.kind == .access,
            now < token.expiresSeconds ?? 0
        else { throw .graphUnauthorized }
        return .user(token.ticket)
    }

    /// `$filter` with `eq` and `and` only.
    private static func filter(_ call: Call) throws(FamilyRefusal) -> [String: String] {
        guard let text = call.query["$filter"] else { return [:] }
        var filter: [String: String] = [:]
        for clause in text.split(separator: " and ") {
            guard
                let match = clause.wholeMatch(
                    of: /(clientId|principalId|consentType|appId) eq '([^']*)'/
                )
            else { throw .graphBadFilter }
            filter[String(match.1)] = String(match.2)
        }
        return filter
    }

    private static func list(_ rows: [JSONValue]) -> Reply { value(.array(rows)) }

    private static func value(_ value: JSONValue) -> Reply {
        .json(["@odata.context": "https://graph.microsoft.com/v1.0/$metadata", "value": value])
    }
}
