import Lifecycle

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
