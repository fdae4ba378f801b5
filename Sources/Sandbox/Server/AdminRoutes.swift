import FoundationEssentials

/// The routes under `/sandbox/` that play the users and the provider's staff (see `Sandbox.md`).
///
/// Open to everybody who reaches the port, which is bound to the loopback address only.
struct AdminRoutes: Sendable {
    let families: SandboxFamilies
    let address: SandboxAddress
    let faults: FaultInjector
    let journal: CallJournal
    let clock: SandboxClock

    private var apple: AppleFamily { families.apple }

    func answer(method: String, path: String, query: FormBody, body: [UInt8]) -> ProviderReply {
        do {
            if let reply = try shared(method, path, query, body) {
                return reply
            }
            let reply =
                if let family = try family(query) {
                    try route(method, path, query, body, to: family)
                } else {
                    try route(method, path, query, body)
                }
            return try reply ?? json(AdminWire.Failure(error: "not_found"), status: 404)
        } catch {
            return failure(error)
        }
    }

    /// The routes that are no provider's.
    private func shared(
        _ method: String,
        _ path: String,
        _ query: FormBody,
        _ body: [UInt8]
    ) throws -> ProviderReply? {
        switch (method, path) {
        case ("GET", "/sandbox/clients"):
            return try json(AdminWire.Clients(clients: clientList()))
        case ("GET", "/sandbox/log"):
            let records = journal.records(
                after: query["after"].flatMap { UInt64($0) } ?? 0,
                limit: query["limit"].flatMap { Int($0) }.map { max(0, $0) } ?? 10_000
            )
            return try json(AdminWire.Log(records: records))
        case ("GET", "/sandbox/faults"):
            return try json(faults.plan)
        case ("POST", "/sandbox/faults"):
            faults.start(try read(FaultPlan.self, body))
            return try json(faults.plan)
        case ("POST", "/sandbox/clock"):
            clock.setOffset(milliseconds: try read(AdminWire.Clock.self, body).offset_ms)
            return try json(AdminWire.Time(now_unix_ms: clock.nowMilliseconds))
        case ("GET", "/sandbox/cloud"):
            return try json(families.cloud.contents)
        case ("POST", "/sandbox/cloud"):
            families.cloud.add(try read(CloudContents.self, body))
            return try json(AdminWire.Done())
        case ("GET", "/sandbox/service-account"):
            let file = try families.cloud.keyFile()
            return ProviderReply(
                status: 200,
                contentType: "application/json",
                body: Array(file.utf8)
            )
        default:
            return nil
        }
    }

    /// Apple's commands.
    private func route(
        _ method: String,
        _ path: String,
        _ query: FormBody,
        _ body: [UInt8]
    ) throws -> ProviderReply? {
        switch (method, path) {
        case ("POST", "/sandbox/clients"):
            let order = try read(AdminWire.Registration.self, body)
            try apple.register(
                teamID: order.team_id,
                keyID: order.key_id,
                keyPEM: order.key_pem,
                clientIDs: order.client_ids
            )
            return try json(AdminWire.Done())
        case ("POST", "/sandbox/sign-in"):
            return try json(signIn(try read(AdminWire.SignIn.self, body)))
        case ("POST", "/sandbox/refresh-tokens"):
            let order = try read(AdminWire.Tokens.self, body)
            let tokens = try apple.issueRefreshTokens(
                count: order.count,
                clientID: order.client_id,
                userPrefix: order.user_prefix ?? "user-"
            )
            return try json(AdminWire.TokenList(tokens: tokens))
        case ("POST", "/sandbox/withdraw-consent"):
            let order = try read(AdminWire.Withdrawal.self, body)
            return try json(
                try apple.withdraw(
                    user: order.user,
                    clientID: order.client_id,
                    event: order.event ?? .consentRevoked
                )
            )
        case ("GET", "/sandbox/grants"):
            return try json(AdminWire.GrantList(grants: apple.grants(user: query["user"])))
        case ("POST", "/sandbox/rotate-keys"):
            let order = try read(AdminWire.Rotation.self, body.isEmpty ? Array("{}".utf8) : body)
            var kids = try apple.signingKeys.rotate()
            if order.withdraw_old == true {
                kids = apple.signingKeys.withdrawOldKeys()
            }
            return try json(AdminWire.Kids(kids: kids))
        default:
            return nil
        }
    }

    private func signIn(_ order: AdminWire.SignIn) throws -> AppleSignIn {
        let age = order.age_s ?? 0
        // A century: keeps the arithmetic from overflowing.
        guard (0...3_155_760_000).contains(age) else {
            throw SandboxError(.badRequest, cannot: "sign in", at: "age_s")
        }
        return try apple.signIn(
            AppleFamily.SignInOrder(
                user: order.user,
                clientID: order.client_id,
                rawNonce: order.nonce,
                redirectURI: order.redirect_uri,
                issuedSeconds: order.issued_at_unix_s ?? (clock.nowSeconds - age)
            )
        )
    }

    func read<Value: Decodable>(_ type: Value.Type, _ body: [UInt8]) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw SandboxError(
                .badRequest,
                cannot: "read body",
                at: "\(type)",
                cause: "not the documented JSON"
            )
        }
    }

    func json(_ value: some Encodable, status: Int = 200) throws -> ProviderReply {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var body = Array(try encoder.encode(value))
        body.append(UInt8(ascii: "\n"))
        return ProviderReply(status: status, contentType: "application/json", body: body)
    }

    private func failure(_ error: any Error) -> ProviderReply {
        let known = error as? SandboxError
        let status =
            switch known?.kind {
            case .badRequest, .unsuitableKey: 400
            case .full: 409
            case .cryptography, .file, .listen, nil: 500
            }
        let failure = AdminWire.Failure(
            error: known?.kind.rawValue ?? "internal",
            detail: "\(error)"
        )
        do {
            return try json(failure, status: status)
        } catch {
            return ProviderReply(status: 500)
        }
    }
}
