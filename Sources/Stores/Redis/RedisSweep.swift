import Lifecycle

/// One pass over a server for some users: removes what is theirs, or counts it.
struct RedisSweep {
    enum Purpose {
        case remove
        /// Finds it by other commands and patterns than a removal.
        case verify
        /// Counts for a plan.
        case preview
    }

    let settings: RedisKind
    let connection: RedisConnection
    let clock: StoreClock
    private let purpose: Purpose
    private let users: [UserID]
    private let indices: [[UInt8]: Int]
    /// By user, and in it by rule: keys first, then members.
    private(set) var counts: [[Int]]

    /// The users fit every pattern of the store.
    init(
        _ store: RedisStore,
        _ purpose: Purpose,
        of users: [UserID],
        over connection: RedisConnection
    ) {
        (settings, clock) = (store.settings, store.clock)
        self.purpose = purpose
        self.users = users
        self.connection = connection
        indices = Dictionary(
            users.enumerated().map { (Array($1.exposeText().utf8), $0) }
        ) { first, _ in first }
        let ruleCount = store.settings.rules.count
        counts = users.map { _ in Array(repeating: 0, count: ruleCount) }
    }

    /// - Throws: ``RedisError``; what was removed until then stays removed.
    mutating func run() async throws(RedisError) {
        for (rule, pattern) in settings.keys.enumerated() where pattern.isExact {
            try await keys(named: pattern, rule: rule)
        }
        for (offset, members) in settings.members.enumerated() {
            guard let key = NameGlob(members.key).exactName else { continue }
            try await sweep(members, in: [key], isNamed: true, rule: settings.keys.count + offset)
        }
        try await pass()
    }

    /// Goes through all keys once, for every rule with a wildcard and every user.
    private mutating func pass() async throws(RedisError) {
        let patterns = settings.keys.enumerated().filter { !$0.element.isExact }
        let members = settings.members.enumerated()
            .map { (offset: $0.offset, rule: $0.element, glob: NameGlob($0.element.key)) }
            .filter { $0.glob.exactName == nil }
        let globs = patterns.map(\.element.anyUser) + members.map(\.glob)
        guard !globs.isEmpty else { return }
        var selection = match(globs)
        if patterns.count == 1, members.isEmpty { selection = match(patterns[0].element) }
        var cursor = RedisCursor([Array("SCAN".utf8)], match: selection, for: self)
        while let keys = try await cursor.next() {
            for (rule, pattern) in patterns {
                try await take(keys, pattern, rule: rule, verb: [Array("UNLINK".utf8)])
            }
            for (offset, rule, glob) in members {
                let held = keys.filter(glob.matches)
                try await sweep(rule, in: held, isNamed: false, rule: settings.keys.count + offset)
            }
        }
    }

    /// What the server selects by for several rules: what all their names begin with.
    ///
    /// A verification looks at every key.
    private func match(_ globs: [NameGlob]) -> [UInt8]? {
        if globs.count == 1 { return globs[0].serverPattern }
        guard purpose != .verify else { return nil }
        let prefix = NameGlob.commonPrefix(globs)
        return prefix.isEmpty ? nil : NameGlob(literals: [prefix, []]).serverPattern
    }

    // MARK: Keys

    private mutating func keys(
        named pattern: UserPattern,
        rule: Int
    ) async throws(RedisError) {
        let verb = Array((purpose == .remove ? "UNLINK" : "EXISTS").utf8)
        let commands = users.map { user in [verb] + names(of: user, pattern) }
        try await counter(commands, rule: rule)
    }

    /// What the server selects by; for one user only what may be theirs, for many what any has.
    private func match(_ pattern: UserPattern) -> [UInt8] {
        if purpose == .verify { return pattern.anyUser.widePattern }
        guard users.count == 1, let names = pattern.names(of: users[0]) else {
            return pattern.anyUser.serverPattern
        }
        return names.serverPattern
    }

    /// Removes or counts the names that belong to one of the users.
    private mutating func take(
        _ names: [[UInt8]],
        _ pattern: UserPattern,
        rule: Int,
        verb: [[UInt8]]
    ) async throws(RedisError) {
        var owned: [Int: [[UInt8]]] = [:]
        for name in names {
            guard let owner = pattern.owner(of: name, among: indices) else { continue }
            owned[owner, default: []].append(name)
        }
        for (owner, names) in owned {
            guard purpose == .remove else {
                counts[owner][rule] += names.count
                continue
            }
            for start in stride(from: 0, to: names.count, by: RedisLimits.batch) {
                let piece = names[start..<min(start + RedisLimits.batch, names.count)]
                let replies = try connection.checked(try await connection.send([verb + piece]))
                counts[owner][rule] += replies[0].integer ?? 0
            }
        }
    }

    /// Sends one command per user and adds up what they answer.
    private mutating func counter(
        _ commands: [[[UInt8]]],
        rule: Int
    ) async throws(RedisError) {
        for start in stride(from: 0, to: commands.count, by: RedisLimits.batch) {
            let end = min(start + RedisLimits.batch, commands.count)
            let replies = try connection.checked(
                try await connection.send(Array(commands[start..<end]))
            )
            for (offset, reply) in replies.enumerated() {
                // A score is a text, and none is null; everything else is counted.
                counts[start + offset][rule] += reply.integer ?? (reply == .null ? 0 : 1)
            }
        }
    }

    private func names(of user: UserID, _ pattern: UserPattern) -> [[UInt8]] {
        pattern.names(of: user)?.exactName.map { [$0] } ?? []
    }

    // MARK: Members

    /// Goes through the members of some keys; one that the configuration itself names must have
    /// members.
    private mutating func sweep(
        _ members: RedisKind.MemberRule,
        in keys: [[UInt8]],
        isNamed: Bool,
        rule: Int
    ) async throws(RedisError) {
        for (key, type) in try await RedisHolders.types(of: keys, over: connection) {
            if let kind = RedisMemberKind(type) {
                try await sweep(members.member, in: key, kind, rule: rule)
            } else if isNamed, type != .simple(Array("none".utf8)) {
                throw .wrongType
            }
        }
    }

    private mutating func sweep(
        _ member: UserPattern,
        in key: [UInt8],
        _ kind: RedisMemberKind,
        rule: Int
    ) async throws(RedisError) {
        if member.isExact {
            let verb = purpose == .remove ? kind.remove : kind.find
            return try await counter(
                users.map { [verb, key] + names(of: $0, member) },
                rule: rule
            )
        }
        var cursor = RedisCursor(
            [kind.scan, key],
            match: match(member),
            isPaired: kind.isPaired,
            for: self
        )
        while let names = try await cursor.next() {
            try await take(names, member, rule: rule, verb: [kind.remove, key])
        }
    }
}

/// A type of key whose members are found one by one.
enum RedisMemberKind: String {
    case hash
    case set
    case sortedSet = "zset"

    /// What `TYPE` answered, for a key that has members; `nil` for any other.
    init?(_ reply: RESPValue) {
        guard let bytes = reply.bytes else { return nil }
        self.init(rawValue: String(decoding: bytes, as: UTF8.self))
    }

    private var letter: String {
        switch self {
        case .hash: "H"
        case .set: "S"
        case .sortedSet: "Z"
        }
    }

    var remove: [UInt8] { Array((self == .hash ? "HDEL" : letter + "REM").utf8) }

    /// Asks for one member.
    var find: [UInt8] {
        switch self {
        case .hash: Array("HEXISTS".utf8)
        case .set: Array("SISMEMBER".utf8)
        case .sortedSet: Array("ZSCORE".utf8)
        }
    }

    /// Goes through all members.
    var scan: [UInt8] { Array((letter + "SCAN").utf8) }

    /// Whether a value or score comes behind each member.
    var isPaired: Bool { self != .set }
}

/// Goes through a server for the users that its keys and members name.
struct RedisUserScan {
    let sweep: RedisSweep
    let isWanted: @Sendable (UserID) -> Bool
    private(set) var found: Set<UserID> = []

    /// Looks at every name that a rule may be for.
    mutating func run() async throws(RedisError) {
        try await lookAtKeys()
        for members in sweep.settings.members {
            var holders = RedisHolders(NameGlob(members.key), for: sweep)
            while let keys = try await holders.next() {
                for (key, type) in keys {
                    guard let kind = RedisMemberKind(type) else { continue }
                    try await look([kind.scan, key], for: members.member, isPaired: kind.isPaired)
                }
            }
        }
    }

    /// Goes through all keys once, for every rule.
    private mutating func lookAtKeys() async throws(RedisError) {
        let patterns = sweep.settings.keys
        guard !patterns.isEmpty else { return }
        let prefix = NameGlob.commonPrefix(patterns.map(\.anyUser))
        var cursor = RedisCursor(
            [Array("SCAN".utf8)],
            match: prefix.isEmpty ? nil : NameGlob(literals: [prefix, []]).serverPattern,
            for: sweep
        )
        while let names = try await cursor.next() {
            for name in names {
                for pattern in patterns {
                    found.formUnion(pattern.owners(of: name).filter(isWanted))
                }
            }
        }
    }

    private mutating func look(
        _ command: [[UInt8]],
        for pattern: UserPattern,
        isPaired: Bool
    ) async throws(RedisError) {
        var cursor = RedisCursor(
            command,
            match: pattern.anyUser.serverPattern,
            isPaired: isPaired,
            for: sweep
        )
        while let names = try await cursor.next() {
            for name in names { found.formUnion(pattern.owners(of: name).filter(isWanted)) }
        }
    }
}
