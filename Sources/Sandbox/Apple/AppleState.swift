/// What Apple remembers: who authorized which team, which codes and tokens are out.
///
/// Pure: time comes in as an argument, nothing goes out but return values.
struct AppleState: Sendable {
    /// One user and one team: what a revoke cuts as a whole.
    struct GrantKey: Hashable, Sendable {
        let user: String
        let teamID: String
    }

    /// A grant; every new authorization is a new generation, so that old tokens stay dead.
    struct Grant: Sendable {
        let subject: String
        var generation = 1
        var isLive = true
    }

    struct Code: Sendable {
        let grant: GrantKey
        let generation: Int
        let clientID: String
        let redirectURI: String?
        let nonce: String
        let issuedSeconds: Int64
        var isUsed = false
    }

    struct Token: Sendable {
        enum Kind: Sendable {
            case refresh
            case access
        }

        let kind: Kind
        let grant: GrantKey
        let generation: Int
        let clientID: String
        let issuedSeconds: Int64
        var checkedSeconds: Int64?
    }

    /// What was found out about the subject of a call, for the journal and the answer.
    struct Finding: Sendable {
        let subject: String
        let nonce: String?
    }

    /// Five minutes (developer.apple.com, "Generate and validate tokens").
    static let codeLifetimeSeconds: Int64 = 300
    /// `expires_in` of the token response.
    static let accessLifetimeSeconds: Int64 = 3600
    private static let daySeconds: Int64 = 86_400

    private var grants: [GrantKey: Grant] = [:]
    private var codes: BoundedTable<TokenDigest, Code>
    private var refreshTokens: BoundedTable<TokenDigest, Token>
    private var accessTokens: BoundedTable<TokenDigest, Token>
    private let capacity: Int
    private let refreshLimit: AppleConfiguration.RefreshLimit

    /// - Parameters:
    ///   - capacity: The number of grants, and of codes and tokens of each kind, that are kept.
    ///   - refreshLimit: The once-a-day rule.
    init(capacity: Int, refreshLimit: AppleConfiguration.RefreshLimit) {
        self.capacity = capacity
        self.refreshLimit = refreshLimit
        codes = BoundedTable(capacity: capacity)
        refreshTokens = BoundedTable(capacity: capacity)
        accessTokens = BoundedTable(capacity: capacity)
    }

    /// Renews or makes the authorization of a team by a user.
    mutating func authorize(_ key: GrantKey) throws(SandboxError) -> Grant {
        if var grant = grants[key] {
            if !grant.isLive {
                grant.isLive = true
                grant.generation += 1
                grants[key] = grant
            }
            return grant
        }
        guard grants.count < capacity else {
            throw SandboxError(.full, cannot: "authorize team", at: key.teamID)
        }
        let grant = Grant(subject: Self.subject(of: key))
        grants[key] = grant
        return grant
    }

    mutating func addCode(_ code: Code, as digest: TokenDigest) {
        codes.insert(code, for: digest)
    }

    mutating func addToken(_ token: Token, as digest: TokenDigest) {
        switch token.kind {
        case .refresh: refreshTokens.insert(token, for: digest)
        case .access: accessTokens.insert(token, for: digest)
        }
    }

    /// How many refresh tokens can still be added before old ones are forgotten.
    var refreshTokensFree: Int { capacity - refreshTokens.count }

    /// The subject that a code or token belongs to, dead or live.
    func subject(of digest: TokenDigest) -> String? {
        let key =
            codes[digest]?.grant ?? refreshTokens[digest]?.grant ?? accessTokens[digest]?.grant
        return key.flatMap { grants[$0]?.subject }
    }

    /// Turns a code into tokens, once.
    mutating func redeem(
        _ digest: TokenDigest,
        clientID: String,
        redirectURI: String?,
        nowSeconds: Int64,
        issue: (refresh: TokenDigest, access: TokenDigest)
    ) throws(AppleRefusal) -> Finding {
        guard var code = codes[digest], let grant = grants[code.grant] else {
            throw .codeDead
        }
        guard code.clientID == clientID else { throw .notIssued(to: clientID) }
        guard !code.isUsed else { throw .codeUsed }
        guard nowSeconds - code.issuedSeconds < Self.codeLifetimeSeconds,
            grant.isLive, grant.generation == code.generation
        else { throw .codeDead }
        guard code.redirectURI == redirectURI else { throw .invalidClient }
        code.isUsed = true
        codes.insert(code, for: digest)
        for (kind, issued) in [(Token.Kind.refresh, issue.refresh), (.access, issue.access)] {
            addToken(
                Token(
                    kind: kind,
                    grant: code.grant,
                    generation: code.generation,
                    clientID: clientID,
                    issuedSeconds: nowSeconds
                ),
                as: issued
            )
        }
        return Finding(subject: grant.subject, nonce: code.nonce)
    }

    /// Checks a refresh token and gives a new access token for it.
    mutating func validate(
        _ digest: TokenDigest,
        clientID: String,
        nowSeconds: Int64,
        access: TokenDigest
    ) throws(AppleRefusal) -> Finding {
        guard var token = refreshTokens[digest], let grant = grants[token.grant] else {
            throw .tokenDead
        }
        guard token.clientID == clientID else { throw .notIssued(to: clientID) }
        guard isLive(token, nowSeconds: nowSeconds) else { throw .tokenDead }
        if refreshLimit == .daily, let checked = token.checkedSeconds,
            nowSeconds - checked < Self.daySeconds
        {
            throw .throttled
        }
        token.checkedSeconds = nowSeconds
        refreshTokens.insert(token, for: digest)
        addToken(
            Token(
                kind: .access,
                grant: token.grant,
                generation: token.generation,
                clientID: clientID,
                issuedSeconds: nowSeconds
            ),
            as: access
        )
        return Finding(subject: grant.subject, nonce: nil)
    }

    /// Cuts the authorization behind a live token.
    ///
    /// - Returns: Whether something was cut; garbage, codes, id tokens and dead tokens cut nothing.
    mutating func revoke(
        _ digest: TokenDigest,
        clientID: String,
        nowSeconds: Int64
    ) throws(AppleRefusal) -> Bool {
        guard let token = refreshTokens[digest] ?? accessTokens[digest],
            isLive(token, nowSeconds: nowSeconds)
        else { return false }
        guard token.clientID == clientID else { throw .notIssued(to: clientID) }
        grants[token.grant]?.isLive = false
        return true
    }

    /// The user removes the application in the settings of the device.
    ///
    /// - Returns: The subject; `nil` when the user never authorized the team.
    mutating func withdraw(_ key: GrantKey) -> String? {
        grants[key]?.isLive = false
        return grants[key]?.subject
    }

    /// The grants of one user, or of all, sorted by user and team.
    func listing(user: String?) -> [AppleGrant] {
        grants.filter { user == nil || $0.key.user == user }
            .map { key, grant in
                AppleGrant(
                    user: key.user,
                    subject: grant.subject,
                    teamID: key.teamID,
                    state: grant.isLive ? .live : .revoked
                )
            }
            .sorted { ($0.user, $0.teamID) < ($1.user, $1.teamID) }
    }

    private func isLive(_ token: Token, nowSeconds: Int64) -> Bool {
        guard let grant = grants[token.grant] else { return false }
        let isInTime =
            token.kind == .refresh
            || nowSeconds - token.issuedSeconds < Self.accessLifetimeSeconds
        return isInTime && grant.isLive && grant.generation == token.generation
    }

    /// A subject in Apple's form, `NNNNNN.hex32.NNNN`, always the same for a user and a team.
    private static func subject(of key: GrantKey) -> String {
        let text = TokenDigest.hexadecimal("\(key.teamID)/\(key.user)")
        let digits = text.utf8.map { String(Int($0) % 10) }
        return "\(digits[32..<38].joined()).\(text.prefix(32)).\(digits[38..<42].joined())"
    }
}
