/// What the admin routes and tests make happen on the users' and on a provider's side.
extension GrantFamily {
    func clientList() -> [SandboxClient] { clients.listing(provider: name, baseURL: baseURL) }

    func rotateKeys(withdrawingOld: Bool) throws -> [String] {
        let kids = try signingKeys.rotate()
        return withdrawingOld ? signingKeys.withdrawOldKeys() : kids
    }

    func signIn(_ order: SandboxOrder.SignIn) throws -> SandboxSignIn {
        let client = try clients.client(order.clientID)
        let key = try grantKey(user: order.user, client: client, realm: order.realm)
        let subject = subject(of: key)
        let issued = try order.issuedSeconds(now: service.clock.nowSeconds)
        let nonce = order.nonce ?? TokenGenerator.text()
        let givesCode = order.realm == nil || order.realm != ownRealm
        let code = givesCode ? TokenGenerator.text() : nil
        var verifier: String?
        if code != nil, order.codeChallenge == nil,
            needsProofKey || client.authentication == .none
        {
            verifier = TokenGenerator.text()
        }
        let challenge = order.codeChallenge ?? verifier.map { ProofKey.challenge(of: $0) }
        let ticket = try service.change { state throws(SandboxError) in
            let ticket = try state.book.authorize(
                key,
                subject: subject,
                clientID: client.id,
                scope: order.scope ?? defaultScope,
                nonce: nonce
            )
            state.renew(key)
            guard let code else { return ticket }
            let entry = GrantBook.Code(
                ticket: ticket,
                redirectURI: order.redirectURI,
                proofKey: challenge.map { ProofKey(challenge: $0) },
                expiresSeconds: issued + codeLifetimeSeconds
            )
            state.book.add(entry, as: TokenDigest(code))
            return ticket
        }
        let idToken = try idToken(
            IDTokenOrder(ticket: ticket, subject: subject, code: code, issuedSeconds: issued)
        )
        return SandboxSignIn(
            code: code,
            codeVerifier: verifier,
            idToken: idToken,
            subject: subject,
            rawNonce: nonce
        )
    }

    func issueTokens(_ order: SandboxOrder.Tokens) throws -> [SandboxToken] {
        // Bounded, since one answer carries them all.
        guard (1...100_000).contains(order.count) else {
            throw SandboxError(.badRequest, cannot: "issue tokens", at: "count")
        }
        let client = try clients.client(order.clientID)
        let scope = order.scope ?? defaultScope
        let issued = service.clock.nowSeconds - (order.ageSeconds ?? 0)
        return try service.change { state throws(SandboxError) in
            var tokens: [SandboxToken] = []
            for number in 1...order.count {
                let user = "\(order.userPrefix ?? "user-")\(number)"
                let key = try grantKey(user: user, client: client, realm: order.realm)
                let ticket = try state.book.authorize(
                    key,
                    subject: subject(of: key),
                    clientID: client.id,
                    scope: scope
                )
                state.renew(key)
                let rules = rules(for: client, ticket)
                let made = state.book.makeTokens(ticket, by: rules, now: issued)
                tokens.append(
                    SandboxToken(
                        user: user,
                        subject: state.book.subject(of: ticket),
                        accessToken: made.access,
                        refreshToken: made.refresh,
                        tokenSecret: keep(made, in: &state, ticket)
                    )
                )
            }
            return tokens
        }
    }

    func withdraw(_ order: SandboxOrder.Withdrawal) throws -> SandboxNotification? {
        let client = try clients.client(order.clientID)
        let key = try grantKey(user: order.user, client: client, realm: order.realm)
        guard service.read({ $0.book.grants[key] != nil }) else {
            throw SandboxError(
                .badRequest,
                cannot: "withdraw consent",
                at: client.id,
                cause: "never signed in"
            )
        }
        return try happen(GrantWithdrawal(order: order, key: key, client: client))
    }

    /// Applies a security event; answers it, and whom it is about.
    func apply(
        _ withdrawal: GrantWithdrawal
    ) throws -> (event: SecurityEventType, subject: String) {
        let (order, key) = (withdrawal.order, withdrawal.key)
        let known = SandboxProvider.oauth2.events
        let event = SecurityEventType(rawValue: try order.event(of: known)) ?? .tokensRevoked
        return service.change { state in
            if event.cutsGrant { state.book.cut(key) }
            if event == .tokenRevoked, let token = order.token {
                state.book.kill(TokenDigest(token))
            }
            return (event, state.book.grants[key]?.subject ?? "")
        }
    }

    func grants(user: String?) -> [SandboxGrant] {
        let (grants, tokens) = service.read { ($0.book.grants, $0.book.liveTokenCounts) }
        return grants.filter { user == nil || $0.key.user == user }
            .map { key, grant in
                SandboxGrant(
                    user: key.user,
                    subject: grant.subject,
                    audience: key.audience,
                    teamID: name == SandboxProvider.apple.rawValue ? key.audience : nil,
                    state: grant.isLive ? .live : .revoked,
                    liveTokens: tokens[key, default: 0]
                )
            }
            .sorted { ($0.user, $0.audience) < ($1.user, $1.audience) }
    }
}
