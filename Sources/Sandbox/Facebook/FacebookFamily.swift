import Encoding

/// How the sandbox plays Facebook.
package struct FacebookConfiguration: Sendable {
    /// What a deletion of permissions answers when the app is not installed (any more); Meta does
    /// not document it.
    package enum RepeatedDelete: String, CaseIterable, Sendable {
        /// Code 100, subcode 33: no such object.
        case notFound = "not-found"
        /// Code 190, subcode 458: the app is not installed.
        case notInstalled = "not-installed"
        case success
    }

    package var clients = [ClientRegistration("1234567890123456", secret: "facebook-app-secret")]
    package var repeatedDelete = RepeatedDelete.notFound

    package init() {}
}

/// Plays `graph.facebook.com`, and `limited.facebook.com` for Limited Login.
///
/// Sources: developers.facebook.com, "Revoking Permissions", "Securing Graph API Requests",
/// "Handling Errors", "Limited Login" and "Data Deletion Request Callback".
final class FacebookFamily: GrantFamily {
    struct State: GrantState {
        var book: GrantBook
        /// The grants by app and app-scoped id.
        var owners: [String: GrantBook.Key] = [:]
        var declined: [GrantBook.Key: Set<String>] = [:]

        mutating func renew(_ key: GrantBook.Key) {
            declined[key] = nil
            guard let grant = book.grants[key] else { return }
            owners["\(key.audience)/\(grant.subject)"] = key
        }
    }

    /// The realm of Limited Login, which has id tokens and nothing else.
    ///
    /// Meta does not say that a deletion of permissions reaches it.
    static let limited = "limited"
    static let issuer = "https://limited.facebook.com"

    let service: GrantService<State>
    let configuration: FacebookConfiguration
    let ownRealm: String? = FacebookFamily.limited
    let defaultScope = "public_profile,email"

    init(_ configuration: FacebookConfiguration, _ tools: FamilyTools) throws(SandboxError) {
        self.configuration = configuration
        service = try GrantService(.facebook, tools, configuration.clients, State(book: tools.book))
    }

    func route(_ method: String, _ path: String) -> FamilyRoute? {
        guard var parts = parts(path) else { return nil }
        if let first = parts.first, first.wholeMatch(of: /v[0-9]+\.[0-9]+/) != nil {
            parts.removeFirst()
        }
        if 2...3 ~= parts.count, parts[1] == "permissions" { return permissions(method, parts) }
        return switch (method, parts) {
        case ("GET", ["oauth", "access_token"]), ("POST", ["oauth", "access_token"]):
            FamilyRoute(.token, answerToken)
        case ("GET", ["me"]): FamilyRoute(.check, answerProfile)
        case ("GET", ["debug_token"]): FamilyRoute(.check, answerDebug)
        case ("GET", [".well-known", "openid-configuration", ""]):
            document([
                "issuer": .string(Self.issuer),
                "jwks_uri": .string("\(self.baseURL)/.well-known/oauth/openid/jwks/"),
                "id_token_signing_alg_values_supported": ["RS256"],
            ])
        case ("GET", [".well-known", "oauth", "openid", "jwks", ""]): FamilyRoute(.keys, handKeys)
        case ("POST", ["platform", "uninstall", ""]): FamilyRoute(.revoke, answerUninstall)
        default: nil
        }
    }

    private func permissions(_ method: String, _ parts: [String]) -> FamilyRoute? {
        let (user, permission) = (parts[0], parts.count == 3 ? parts[2] : nil)
        return switch (method, permission) {
        case ("DELETE", _):
            FamilyRoute(.revoke) { call throws(FamilyRefusal) in
                try self.answerDeletion(call, of: user, permission)
            }
        case ("GET", nil):
            FamilyRoute(.check) { call throws(FamilyRefusal) in
                try self.answerPermissions(call, of: user)
            }
        default: nil
        }
    }

    func note(_ call: Call) -> CallNote {
        let token = call.parameters["access_token"] ?? call.bearer
        let app = token?.split(separator: "|").first.map(String.init)
        return CallNote(
            grantType: call.parameters["grant_type"],
            clientID: call.parameters["client_id"] ?? call.form["app_id"]
                ?? (token?.contains("|") == true ? app : nil),
            token: call.query["input_token"] ?? call.form["id_token"] ?? call.parameters["code"]
                ?? token
        )
    }

    /// An app-scoped id: another for every app, the same with Limited Login.
    func subject(of key: GrantBook.Key) -> String {
        let app = key.audience.prefix { $0 != "/" }
        return "1" + TokenDigest.digits(of: "facebook/\(app)/\(key.user)", count: 16)
    }

    /// One token for about 60 days and no refresh token.
    func rules(for client: RegisteredClient, _ ticket: GrantBook.Ticket) -> TokenRules {
        TokenRules(accessPrefix: "EAA", accessLifetimeSeconds: 60 * 86_400)
    }

    func idToken(_ order: IDTokenOrder) throws -> String? {
        guard order.ticket.grant.audience.hasSuffix("/\(Self.limited)") else { return nil }
        return try signingKeys.sign([
            "iss": .string(Self.issuer), "aud": .string(order.ticket.clientID),
            "sub": .string(order.subject), "iat": .integer(order.issuedSeconds),
            "exp": .integer(order.issuedSeconds + 3600), "jti": .string(TokenGenerator.text()),
            "nonce": JSONValue(order.ticket.nonce), "name": "Sandbox User",
        ])
    }

    /// `signed_request`, the body of the deauthorize and of the data deletion callback.
    func happen(_ withdrawal: GrantWithdrawal) throws -> SandboxNotification? {
        _ = try withdrawal.order.event(of: SandboxProvider.facebook.events)
        let subject = service.cut(withdrawal.key)
        let payload: JSONValue = [
            "user_id": .string(subject), "algorithm": "HMAC-SHA256",
            "issued_at": .integer(service.clock.nowSeconds),
        ]
        let part = Base64URL.text(payload.compactText.utf8)
        let signature = withdrawal.client.sign(Array(part.utf8))
        return SandboxNotification(
            contentType: "application/x-www-form-urlencoded",
            body: "signed_request=\(Base64URL.text(signature)).\(part)"
        )
    }

    /// Graph's limits are 400 as well, and say nothing about when to come again.
    func throttled(retryAfterSeconds: Int) -> Reply {
        FamilyRefusal.graph(341, "(#341) Application limit reached").reply
    }
}

extension Call {
    /// The parameters of Graph, which may be in the query or in the form.
    var parameters: ParsedForm { query.merging(form) }
}

/// Graph's errors: 400, whatever they are about (developers.facebook.com, "Handling errors").
extension FamilyRefusal {
    static func graph(
        _ code: Int64,
        subcode: Int64? = nil,
        _ message: String,
        type: String = "OAuthException"
    ) -> FamilyRefusal {
        let body: JSONValue = [
            "error": [
                "message": .string(message), "type": .string(type), "code": .integer(code),
                "error_subcode": subcode.map { .integer($0) },
                "fbtrace_id": .string(String(TokenGenerator.text().prefix(23))),
            ]
        ]
        let name = subcode.map { "\(code)/\($0)" } ?? "\(code)"
        return FamilyRefusal(name, .json(body, status: 400))
    }

    /// The user removed the app, or never had it.
    static func notInstalled(_ clientID: String) -> FamilyRefusal {
        graph(
            190,
            subcode: 458,
            "Error validating access token: The user has not authorized application \(clientID)."
        )
    }

    /// The object is unknown to this app: ids are app-scoped.
    static let noObject = graph(
        100,
        subcode: 33,
        "Unsupported request. The object does not exist, cannot be loaded due to missing "
            + "permissions, or does not support this operation.",
        type: "GraphMethodException"
    )
}
