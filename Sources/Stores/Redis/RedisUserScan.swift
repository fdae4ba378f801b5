import Lifecycle

/// Goes through a server for the users that its keys and members name.
struct RedisUserScan {
    let sweep: RedisSweep
    let isWanted: @Sendable (UserID) -> Bool
    private(set) var found: Set<UserID> = []

    init(_ sweep: RedisSweep, where isWanted: @escaping @Sendable (UserID) -> Bool) {
        self.sweep = sweep
        self.isWanted = isWanted
    }

    /// Looks at every name that a rule may be for.
    ///
    /// - Throws: ``RedisError``.
    mutating func run() async throws(RedisError) {
        for pattern in sweep.plan.keys {
            try await look([Array("SCAN".utf8)], for: pattern, isPaired: false)
        }
        for members in sweep.plan.members {
            var holders = RedisHolders(NameGlob(members.key), for: sweep)
            while let keys = try await holders.next() {
                for (key, type) in keys {
                    guard let kind = RedisMemberKind(type) else { continue }
                    try await look([kind.scan, key], for: members.member, isPaired: kind.isPaired)
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
