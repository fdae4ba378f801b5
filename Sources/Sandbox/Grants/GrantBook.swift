import Cryptography
import Encoding
import NIOCore

/// Who authorized whom, and which codes and tokens are out.
///
/// Pure: time comes in as an argument, nothing goes out but return values.
struct GrantBook: Sendable {
    /// One user and the one who was authorized: a client, a team or project, a tenant's client.
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
        var chain: UInt64
        let clientID: String
        let scope: String
        var nonce: String?

        func has(scope name: Substring) -> Bool { scope.split(separator: " ").contains(name) }
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

    enum CodeFailure: Error {
        case unknown, foreign, expired, redirect, verifier
        case used(Ticket)
    }

    enum Standing: Equatable, Sendable {
        case live, expired, dead
    }

    private(set) var grants: [Key: Grant] = [:]
    private var codes: BoundedTable<TokenDigest, Code>
    private var refreshTokens: BoundedTable<TokenDigest, Token>
    private var accessTokens: BoundedTable<TokenDigest, Token>
    private var deadChains: BoundedTable<UInt64, Bool>
    private(set) var chain: UInt64 = 0
    private var cutSubject: String?
    private let capacity: Int

    /// - Parameter capacity: The grants, and the codes and tokens of each kind, that are kept.
    init(capacity: Int) {
        self.capacity = capacity
        codes = BoundedTable(capacity: capacity)
        refreshTokens = BoundedTable(capacity: capacity)
        accessTokens = BoundedTable(capacity: capacity)
        deadChains = BoundedTable(capacity: capacity)
    }

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
        var next = ticket
        next.chain = chain
        return next
    }

    mutating func add(_ code: Code, as digest: TokenDigest) { codes.insert(code, for: digest) }

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
        var refresh: String?
        if withRefresh, let prefix = rules.refreshPrefix {
            let text = prefix + TokenGenerator.text()
            add(.refresh, text, ticket, lifetime: rules.refreshLifetimeSeconds, now: now)
            refresh = text
        }
        return TokenSet(ticket: ticket, access: access, refresh: refresh, rules: rules)
    }

    private mutating func add(
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
        put(token, for: TokenDigest(text))
    }

    private mutating func put(_ token: Token, for digest: TokenDigest) {
        switch token.kind {
        case .refresh: refreshTokens.insert(token, for: digest)
        case .access: accessTokens.insert(token, for: digest)
        }
    }

    func token(_ digest: TokenDigest) -> Token? { refreshTokens[digest] ?? accessTokens[digest] }

    /// A token that is live; of one kind or client only, if given.
    func live(
        _ text: String,
        _ kind: Token.Kind? = nil,
        of clientID: String? = nil,
        now: Int64
    ) -> Token? {
        guard let token = token(TokenDigest(text)), kind ?? token.kind == token.kind,
            clientID ?? token.ticket.clientID == token.ticket.clientID,
            standing(token, now: now) == .live
        else { return nil }
        return token
    }

    func standing(_ token: Token, now: Int64) -> Standing {
        guard !token.isDead, isStanding(token.ticket) else { return .dead }
        return now < token.expiresSeconds ?? .max ? .live : .expired
    }

    /// How many tokens each grant has that nothing but their age may have ended.
    var liveTokenCounts: [Key: Int] {
        [refreshTokens, accessTokens].reduce(into: [:]) { counts, table in
            for token in table.all where standing(token, now: token.issuedSeconds) == .live {
                counts[token.ticket.grant, default: 0] += 1
            }
        }
    }

    /// Puts the end of a token further off, as providers do with tokens that are used.
    mutating func extend(_ digest: TokenDigest, until expiresSeconds: Int64) {
        guard var token = token(digest) else { return }
        token.expiresSeconds = expiresSeconds
        put(token, for: digest)
    }

    mutating func kill(_ digest: TokenDigest) {
        guard var token = token(digest) else { return }
        token.isDead = true
        put(token, for: digest)
    }

    mutating func kill(chain: UInt64) { deadChains.insert(true, for: chain) }

    mutating func cut(_ key: Key) {
        grants[key]?.isLive = false
        cutSubject = grants[key]?.subject
    }

    /// Whose grant was cut since the last call.
    mutating func takeCutSubject() -> String? {
        defer { cutSubject = nil }
        return cutSubject
    }

    func subject(of ticket: Ticket) -> String { grants[ticket.grant]?.subject ?? "" }

    /// The subject that a code or token belongs to, dead or live.
    func subject(of digest: TokenDigest) -> String? {
        (codes[digest]?.ticket ?? token(digest)?.ticket).map { subject(of: $0) }
    }

    private func isStanding(_ ticket: Ticket) -> Bool {
        guard let grant = grants[ticket.grant] else { return false }
        return grant.isLive && grant.generation == ticket.generation
            && deadChains[ticket.chain] == nil
    }
}

/// A dictionary that forgets its oldest entries when it is full.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var values: [Key: Value] = [:]
    private var order = CircularBuffer<Key>()
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    var all: some Sequence<Value> { values.values }

    subscript(_ key: Key) -> Value? { values[key] }

    mutating func insert(_ value: Value, for key: Key) {
        guard values.updateValue(value, forKey: key) == nil else { return }
        order.append(key)
        if order.count > capacity { values[order.removeFirst()] = nil }
    }
}

struct TokenRules: Sendable {
    /// The beginning of access tokens, which tells some providers' kinds apart.
    var accessPrefix: String
    /// `nil` for tokens without end.
    var accessLifetimeSeconds: Int64?
    /// The beginning of refresh tokens; `nil` when there are none.
    var refreshPrefix: String?
    var refreshLifetimeSeconds: Int64?
}

struct TokenSet: Sendable {
    let ticket: GrantBook.Ticket
    let access: String
    let refresh: String?
    let rules: TokenRules
}

/// The challenge that a code was asked for with (RFC 7636).
struct ProofKey: Sendable {
    let challenge: String

    /// RFC 7636 §4.6.
    func accepts(_ verifier: String?) -> Bool {
        verifier.map { Self.challenge(of: $0) == challenge } ?? false
    }

    static func challenge(of verifier: String) -> String {
        Base64URL.text(SHA256.hash(Array(verifier.utf8)))
    }
}
