/// Who authorized whom, and which codes and tokens are out: what every family but Apple remembers.
///
/// Pure: time comes in as an argument, nothing goes out but return values.
struct GrantBook: Sendable {
    /// One user and the one who was authorized: a client, a Google project, a tenant's client.
    struct Key: Hashable, Sendable {
        let user: String
        let audience: String
    }

    /// A grant; every new authorization is a new generation, so that old tokens stay dead.
    struct Grant: Sendable {
        let subject: String
        var generation = 1
        var isLive = true
    }

    /// What a code and every token that comes from it have in common.
    struct Ticket: Sendable {
        let grant: Key
        let generation: Int
        /// The number of the sign-in.
        let chain: UInt64
        let clientID: String
        let scope: String
        let nonce: String?
    }

    struct Code: Sendable {
        let ticket: Ticket
        let redirectURI: String?
        let proofKey: ProofKey?
        let expiresSeconds: Int64
        var isUsed = false
    }

    struct Token: Sendable {
        enum Kind: String, Sendable {
            case refresh = "refresh_token"
            case access = "access_token"
        }

        let kind: Kind
        let ticket: Ticket
        let issuedSeconds: Int64
        /// `nil` for tokens without end.
        var expiresSeconds: Int64?
        var isDead = false
    }

    /// Why a code is refused.
    enum CodeFailure: Error {
        case unknown
        case foreign
        case used(Ticket)
        case expired
        case redirect
        case verifier
    }

    /// How a token stands.
    enum Standing: Equatable, Sendable {
        case live
        case expired
        case dead
    }

    private(set) var grants: [Key: Grant] = [:]
    private var codes: BoundedTable<TokenDigest, Code>
    private var tokens: BoundedTable<TokenDigest, Token>
    private var deadChains: BoundedTable<UInt64, Bool>
    /// The number of the latest sign-in.
    private(set) var chain: UInt64 = 0
    private var cutSubject: String?
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        codes = BoundedTable(capacity: capacity)
        tokens = BoundedTable(capacity: capacity)
        deadChains = BoundedTable(capacity: capacity)
    }

    /// Renews or makes a grant and opens a sign-in under it.
    mutating func authorize(
        _ key: Key,
        subject: String,
        clientID: String,
        scope: String = "",
        nonce: String? = nil
    ) throws(SandboxError) -> Ticket {
        var grant = grants[key] ?? Grant(subject: subject)
        guard grants[key] != nil || grants.count < capacity else {
            throw SandboxError(.full, cannot: "authorize client", at: clientID)
        }
        if !grant.isLive {
            grant.isLive = true
            grant.generation += 1
        }
        grants[key] = grant
        chain += 1
        return Ticket(
            grant: key,
            generation: grant.generation,
            chain: chain,
            clientID: clientID,
            scope: scope,
            nonce: nonce
        )
    }

    /// Ends the tokens of a sign-in and carries it on under another number.
    mutating func replace(_ ticket: Ticket) -> Ticket {
        kill(chain: ticket.chain)
        chain += 1
        return Ticket(
            grant: ticket.grant,
            generation: ticket.generation,
            chain: chain,
            clientID: ticket.clientID,
            scope: ticket.scope,
            nonce: ticket.nonce
        )
    }

    mutating func add(_ code: Code, as digest: TokenDigest) {
        codes.insert(code, for: digest)
    }

    /// Turns a code into its ticket, once.
    mutating func redeem(
        _ digest: TokenDigest,
        by clientID: String,
        redirectURI: String?,
        verifier: String?,
        now: Int64
    ) throws(CodeFailure) -> Ticket {
        guard var code = codes[digest] else { throw .unknown }
        guard code.ticket.clientID == clientID else { throw .foreign }
        guard !code.isUsed else { throw .used(code.ticket) }
        guard now < code.expiresSeconds, isStanding(code.ticket) else { throw .expired }
        guard code.redirectURI == redirectURI else { throw .redirect }
        guard code.proofKey?.accepts(verifier) ?? (verifier == nil) else { throw .verifier }
        code.isUsed = true
        codes.insert(code, for: digest)
        return code.ticket
    }

    /// Makes an access token, and a refresh token if the rules have one and it is asked for.
    mutating func makeTokens(
        _ ticket: Ticket,
        by rules: TokenRules,
        withRefresh: Bool = true,
        now: Int64
    ) -> TokenSet {
        let access = rules.accessPrefix + TokenGenerator.text()
        add(.access, access, ticket, lifetime: rules.accessLifetimeSeconds, now: now)
        guard withRefresh, let prefix = rules.refreshPrefix else {
            return TokenSet(access: access, refresh: nil, rules: rules)
        }
        let refresh = prefix + TokenGenerator.text()
        add(.refresh, refresh, ticket, lifetime: rules.refreshLifetimeSeconds, now: now)
        return TokenSet(access: access, refresh: refresh, rules: rules)
    }

    mutating func add(
        _ kind: Token.Kind,
        _ text: String,
        _ ticket: Ticket,
        lifetime: Int64?,
        now: Int64
    ) {
        let token = Token(
            kind: kind,
            ticket: ticket,
            issuedSeconds: now,
            expiresSeconds: lifetime.map { now + $0 }
        )
        tokens.insert(token, for: TokenDigest(text))
    }

    func token(_ digest: TokenDigest) -> Token? { tokens[digest] }

    func standing(_ token: Token, now: Int64) -> Standing {
        guard !token.isDead, isStanding(token.ticket) else { return .dead }
        return now < token.expiresSeconds ?? .max ? .live : .expired
    }

    /// How many tokens each grant has that nothing but their age may have ended.
    var liveTokenCounts: [Key: Int] {
        tokens.all.reduce(into: [:]) { counts, token in
            guard standing(token, now: token.issuedSeconds) == .live else { return }
            counts[token.ticket.grant, default: 0] += 1
        }
    }

    /// The users who have a token that nothing but its age may have ended.
    var usersWithTokens: Set<String> {
        Set(
            tokens.all.filter { standing($0, now: $0.issuedSeconds) == .live }
                .map(\.ticket.grant.user)
        )
    }

    /// Puts the end of a token further off, as providers do with tokens that are used.
    mutating func extend(_ digest: TokenDigest, until expiresSeconds: Int64) {
        guard var token = tokens[digest] else { return }
        token.expiresSeconds = expiresSeconds
        tokens.insert(token, for: digest)
    }

    /// Ends one token.
    mutating func kill(_ digest: TokenDigest) {
        guard var token = tokens[digest] else { return }
        token.isDead = true
        tokens.insert(token, for: digest)
    }

    /// Ends every token of one sign-in; the grant stands.
    mutating func kill(chain: UInt64) {
        deadChains.insert(true, for: chain)
    }

    /// Ends a grant with everything under it.
    mutating func cut(_ key: Key) {
        grants[key]?.isLive = false
        cutSubject = grants[key]?.subject
    }

    /// Whose grant was cut since the last call.
    mutating func takeCutSubject() -> String? {
        defer { cutSubject = nil }
        return cutSubject
    }

    func subject(of ticket: Ticket) -> String {
        grants[ticket.grant]?.subject ?? ""
    }

    /// The subject that a code or token belongs to, dead or live.
    func subject(of digest: TokenDigest) -> String? {
        (codes[digest]?.ticket ?? tokens[digest]?.ticket).map { subject(of: $0) }
    }

    private func isStanding(_ ticket: Ticket) -> Bool {
        guard let grant = grants[ticket.grant] else { return false }
        return grant.isLive && grant.generation == ticket.generation
            && deadChains[ticket.chain] == nil
    }
}
