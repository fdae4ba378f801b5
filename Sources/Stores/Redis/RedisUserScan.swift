import Lifecycle

/// Goes through a server for the users that its keys and members tell.
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
            let glob = NameGlob(members.key)
            if let key = glob.exactName {
                try await look(in: [key], for: members.member)
                continue
            }
            var cursor = RedisCursor([Array("SCAN".utf8)], match: glob.serverPattern, for: sweep)
            while let keys = try await cursor.next() {
                try await look(in: keys.filter(glob.matches), for: members.member)
            }
        }
    }

    private mutating func look(
        in keys: [[UInt8]],
        for member: UserPattern
    ) async throws(RedisError) {
        guard !keys.isEmpty else { return }
        let connection = sweep.connection
        let types = try connection.checked(
            try await connection.send(keys.map { [Array("TYPE".utf8), $0] })
        )
        for (key, type) in zip(keys, types) {
            guard let kind = RedisMemberKind(type) else { continue }
            try await look([kind.scan, key], for: member, isPaired: kind.isPaired)
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
