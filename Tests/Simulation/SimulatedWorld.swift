import Engine
import Lifecycle

/// The truth outside the service: what providers and stores really hold.
///
/// It survives every crash.
struct SimulatedWorld {
    /// One token at a provider.
    struct Token {
        let user: Int
        let provider: ProviderName
        var isLive: Bool
        /// What a refresh gave for it.
        var successor: String?
        /// Whether it came of a refresh, not of a sign-in.
        var isRotated = false
        /// When it was last used, or made.
        var usedAt: WallTime
    }

    /// One authorization code at a provider.
    struct Code {
        let user: Int
        let provider: ProviderName
        let bornAt: WallTime
        /// How often the provider really exchanged or refused it after a first use.
        var uses = 0
    }

    /// A row that says when it was written, by the clock of its machine.
    struct DatedRow {
        let writtenAt: WallTime
        let date: WallTime
    }

    var tokens: [String: Token] = [:]
    /// Where each user's account at the directory is linked, password and the like included.
    var links: [Int: Set<ProviderName>] = [:]
    var now = Simulator.start
    /// How long an unused token lives, where it does not live for ever.
    var idleLives: [ProviderName: Duration] = [:]
    var refreshCalls = 0
    var codes: [String: Code] = [:]
    /// Rows of each user, per store.
    var rows: [StoreName: [Int: Int]] = [:]
    /// Rows with a date, which a cutoff protects.
    var dated: [StoreName: [Int: [DatedRow]]] = [:]
    /// Users whose data a backup brought back, and whom nobody erased since.
    var restored: [StoreName: Set<Int>] = [:]
    /// Copies of a store for drills, by place: rows of each user.
    var copies: [String: [Int: Int]] = [:]
    /// Copies that a process has open; only one run may.
    var openCopies: Set<String> = []
    /// Copies that are open and cannot be used.
    var damagedCopies: Set<String> = []
    /// Stores that cannot list their users.
    var unlisted: Set<StoreName> = []
    /// Requests that purge again what a backup may have brought back.
    var reopened: Set<RequestID> = []
    /// Rows of an account that was registered again.
    var laterLives: [(store: StoreName, user: Int, date: WallTime)] = []
    /// The rules that are in force for each store.
    var rules: [StoreName: String] = [:]
    /// The stores of which something was purged, per request.
    var begun: [RequestID: Set<StoreName>] = [:]
    var tokenCount = 0
    /// Tokens that an application has in the spool.
    var unread: Set<String> = []
    /// Rotated tokens that nobody kept: the answer was lost, or the process died before the commit.
    var unheard: Set<String> = []
    /// What went wrong, seen from outside.
    var violations: [String] = []
    var revokeCalls = 0
    var purgeCalls = 0

    mutating func issueToken(user: Int, provider: ProviderName) -> String {
        tokenCount += 1
        let name = "token-\(tokenCount)"
        tokens[name] = Token(user: user, provider: provider, isLive: true, usedAt: now)
        return name
    }

    /// RFC 6749 §4.1.2: a code works once, and here for five minutes.
    mutating func exchange(_ code: String, at now: WallTime) -> String? {
        guard var known = codes[code] else { return nil }
        known.uses += 1
        codes[code] = known
        if known.uses > 1 { violations.append("double exchange of \(code)") }
        guard known.uses == 1, now.since(known.bornAt) <= .seconds(300) else { return nil }
        return issueToken(user: known.user, provider: known.provider)
    }

    /// RFC 9700 §4.14.2: a refresh uses the token up; one that comes back ends what came of it.
    ///
    /// - Returns: The new token; `nil` when the old one is refused.
    mutating func refresh(_ name: String) -> String? {
        guard let token = tokens[name] else { return nil }
        if let successor = token.successor {
            if !unheard.contains(successor) {
                violations.append("a token was refreshed twice although its successor was heard of")
            }
            var next: String? = successor
            while let name = next {
                tokens[name]?.isLive = false
                next = tokens[name]?.successor
            }
            return nil
        }
        guard token.isLive else { return nil }
        let successor = issueToken(user: token.user, provider: token.provider)
        tokens[name]?.isLive = false
        tokens[name]?.successor = successor
        tokens[successor]?.isRotated = true
        return successor
    }

    /// Tells whether the token is live, which counts as use.
    mutating func use(_ name: String) -> Bool {
        refreshCalls += 1
        guard isLive(name) else { return false }
        tokens[name]?.usedAt = now
        return true
    }

    /// Time passes: tokens that nobody used die.
    mutating func reach(_ time: WallTime) {
        now = max(now, time)
        guard !idleLives.isEmpty else { return }
        for (name, token) in tokens where token.isLive {
            guard let life = idleLives[token.provider], now.since(token.usedAt) > life else {
                continue
            }
            tokens[name]?.isLive = false
        }
    }

    /// Cuts the whole grant, as Apple does; success for garbage too (RFC 7009 §2.2).
    mutating func revoke(_ token: String) {
        revokeCalls += 1
        guard let known = tokens[token], known.isLive else { return }
        for (name, other) in tokens
        where other.user == known.user && other.provider == known.provider {
            tokens[name]?.isLive = false
        }
    }

    func isLive(_ token: String) -> Bool { tokens[token]?.isLive ?? false }

    func liveTokenCount(user: Int, provider: ProviderName? = nil) -> Int {
        tokens.count { name, token in
            token.user == user && token.isLive && !unread.contains(name)
                && (provider.map { $0 == token.provider } ?? true)
        }
    }
}
