/// The commands of every family but Apple, which are Apple's routes with `?provider=`.
extension AdminRoutes {
    func route(
        _ method: String,
        _ path: String,
        _ query: FormBody,
        _ body: [UInt8],
        to family: any FamilyCommands
    ) throws -> ProviderReply? {
        switch (method, path) {
        case ("POST", "/sandbox/clients"):
            try family.register(try read(ClientRegistration.self, body))
            return try json(AdminWire.Done())
        case ("POST", "/sandbox/sign-in"):
            return try json(try family.signIn(try read(SandboxOrder.SignIn.self, body)))
        case ("POST", "/sandbox/refresh-tokens"):
            let tokens = try family.issueTokens(try read(SandboxOrder.Tokens.self, body))
            return try json(AdminWire.FamilyTokens(tokens: tokens))
        case ("POST", "/sandbox/withdraw-consent"):
            let order = try read(SandboxOrder.Withdrawal.self, body)
            guard let notification = try family.withdraw(order) else {
                return try json(AdminWire.Nothing())
            }
            return try json(notification)
        case ("GET", "/sandbox/grants"):
            return try json(AdminWire.FamilyGrants(grants: family.grants(user: query["user"])))
        case ("POST", "/sandbox/rotate-keys"):
            let order = try read(AdminWire.Rotation.self, body.isEmpty ? Array("{}".utf8) : body)
            let kids = try family.rotateKeys(withdrawingOld: order.withdraw_old == true)
            return try json(AdminWire.Kids(kids: kids))
        default:
            return nil
        }
    }

    /// The clients of all families, for whoever writes a configuration.
    func clientList() -> [SandboxClient] {
        families.apple.clients.names.map { clientID in
            SandboxClient(
                provider: SandboxProvider.apple.rawValue,
                baseURL: address.baseURL,
                clientID: clientID,
                clientSecret: nil
            )
        } + families.others.flatMap { $0.clientList() }
    }

    /// The family of `?provider=`; `nil` for Apple, which has its own commands.
    func family(_ query: FormBody) throws -> (any FamilyCommands)? {
        guard let name = query["provider"], name != SandboxProvider.apple.rawValue else {
            return nil
        }
        guard let provider = SandboxProvider(rawValue: name) else {
            throw SandboxError(.badRequest, cannot: "find provider", at: "provider")
        }
        return try families.commands(of: provider)
    }
}
