import Encoding

/// The routes under `/sandbox/` that play the users and the provider's staff (see `Sandbox.md`).
///
/// Open to everybody who reaches the port, which is bound to the loopback address only.
struct AdminRoutes: Sendable {
    let families: SandboxFamilies
    let faults: FaultInjector
    let tools: FamilyTools

    func answer(method: String, path: String, query: ParsedForm, body: [UInt8]) -> Reply {
        do {
            return try answer("\(method) \(path)", query, body)
        } catch {
            return failure(error)
        }
    }

    /// The commands are for the provider that `?provider=` names; for Apple if it names none.
    private func answer(_ route: String, _ query: ParsedForm, _ body: [UInt8]) throws -> Reply {
        switch route {
        case "GET /sandbox/log":
            let records = tools.journal.records(
                after: query["after"].flatMap { UInt64($0) } ?? 0,
                limit: query.number("limit").map { max(0, $0) } ?? 10_000
            )
            return try json(["records": records])
        case "GET /sandbox/faults": return try json(faults.plan)
        case "POST /sandbox/faults":
            faults.start(try read(FaultPlan.self, body))
            return try json(faults.plan)
        case "POST /sandbox/clock":
            guard let offset = try read([String: Int64].self, body)["offset_ms"] else {
                throw SandboxError(.badRequest, cannot: "move clock", at: "offset_ms")
            }
            tools.clock.setOffset(milliseconds: offset)
            return try json(["now_unix_ms": tools.clock.nowMilliseconds])
        case "GET /sandbox/cloud": return try json(families.cloud.contents)
        case "POST /sandbox/cloud":
            families.cloud.add(try read(CloudContents.self, body))
            return try json(["ok": true])
        case "GET /sandbox/service-account":
            return reply(Array(try families.cloud.keyFile().utf8))
        case "GET /sandbox/clients":
            return try json(["clients": families.providers.flatMap { $0.clientList() }])
        case "POST /sandbox/clients":
            let family = try family(query)
            if family.name == families.apple.name {
                try families.apple.register(try read(AppleRegistration.self, body))
            } else {
                try family.clients.register(try read(ClientRegistration.self, body))
            }
            return try json(["ok": true])
        case "POST /sandbox/sign-in":
            let order = try read(SandboxOrder.SignIn.self, body)
            return try json(try family(query).signIn(order))
        case "POST /sandbox/refresh-tokens":
            let order = try read(SandboxOrder.Tokens.self, body)
            return try json(["tokens": try family(query).issueTokens(order)])
        case "POST /sandbox/withdraw-consent":
            let family = try family(query)
            let order = try read(SandboxOrder.Withdrawal.self, body)
            guard let notification = try family.withdraw(order) else {
                return try json([String: String]())
            }
            // Apple's is nothing but its body.
            let isApple = family.name == families.apple.name
            return isApple ? reply(Array(notification.body.utf8)) : try json(notification)
        case "GET /sandbox/grants":
            return try json(["grants": try family(query).grants(user: query["user"])])
        case "POST /sandbox/rotate-keys":
            let order = try read([String: Bool].self, body.isEmpty ? Array("{}".utf8) : body)
            let isAlone = order["withdraw_old"] == true
            return try json(["kids": try family(query).rotateKeys(withdrawingOld: isAlone)])
        default: return try json(["error": "not_found"], status: 404)
        }
    }

    private func family(_ query: ParsedForm) throws(SandboxError) -> any GrantFamily {
        guard let provider = SandboxProvider(rawValue: query["provider"] ?? "apple") else {
            throw SandboxError(.badRequest, cannot: "find provider", at: "provider")
        }
        return families.family(provider)
    }

    private func read<Value: Decodable>(_ type: Value.Type, _ body: [UInt8]) throws -> Value {
        do {
            return try TypedJSON.value(type, from: body, .snakeCase)
        } catch {
            throw SandboxError(
                .badRequest,
                cannot: "read body",
                at: "\(type)",
                cause: "not the documented JSON"
            )
        }
    }

    private func json(_ value: some Encodable, status: Int = 200) throws -> Reply {
        reply(try TypedJSON.bytes(value, .snakeCase), status: status)
    }

    private func reply(_ json: [UInt8], status: Int = 200) -> Reply {
        Reply(status: status, contentType: "application/json", body: json + [UInt8(ascii: "\n")])
    }

    private func failure(_ error: any Error) -> Reply {
        let kind = (error as? SandboxError)?.kind
        let status =
            switch kind {
            case .badRequest, .unsuitableKey: 400
            case .full: 409
            case .cryptography, .file, .listen, nil: 500
            }
        let body: JSONValue = [
            "detail": .string("\(error)"), "error": .string(kind?.rawValue ?? "internal"),
        ]
        return reply(Array(body.compactText.utf8), status: status)
    }
}
