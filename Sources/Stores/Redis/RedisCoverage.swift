import Lifecycle

/// Looks for families of keys, what stands before the first colon, that no rule deals with.
struct RedisCoverage {
    let settings: RedisKind

    /// The rules, the families beside them, and whether there are more keys than were looked at.
    ///
    /// A family with the id of a user who has keys is only counted.
    func findings(_ sweep: RedisSweep) async throws(RedisError) -> [CoverageFinding] {
        let globs = settings.keys.map(\.anyUser) + settings.members.map { NameGlob($0.key) }
        var cursor = RedisCursor([Array("SCAN".utf8)], match: nil, for: sweep)
        var seenCount = 0
        var unmapped: [String: Int] = [:]
        var users: Set<String> = []
        var otherCount = 0
        let end = sweep.clock.uptime() + RedisLimits.coverageTime
        while cursor.stepCount < RedisLimits.coverageSteps, sweep.clock.uptime() < end,
            let keys = try await cursor.next()
        {
            seenCount += keys.count
            for key in keys where users.count < RedisLimits.coverageUsers {
                users.formUnion(owners(of: key))
            }
            for key in keys where !globs.contains(where: { $0.matches(key) }) {
                let family = Self.family(of: key)
                if unmapped.count > RedisLimits.coverageNames, unmapped[family] == nil {
                    otherCount += 1
                } else {
                    unmapped[family, default: 0] += 1
                }
            }
        }
        if unmapped.count > RedisLimits.coverageNames {
            unmapped = ["*": unmapped.values.reduce(otherCount, +)]
        }
        for (family, count) in unmapped
        where UserMask.hasOther(family, isUser: users.contains) {
            unmapped[family] = nil
            unmapped["*", default: 0] += count
        }
        let rest = ["*": "\(seenCount) keys were looked at, the others not"]
        return UnmappedNames.configured(settings.rules)
            + CoverageFinding.samples(cursor.isDone ? [:] : rest)
            + unmapped.sorted { $0.key < $1.key }.map { family, count in
                let reason = "\(count) of \(seenCount) keys looked at, no rule fits them"
                return CoverageFinding.open(family, reason)
            }
    }

    private func owners(of key: [UInt8]) -> [String] {
        settings.keys.flatMap { $0.owners(of: key).map { $0.exposeText() } }
    }

    private static func family(of key: [UInt8]) -> String {
        let head = key.prefix { $0 != UInt8(ascii: ":") }
        let isText = head.allSatisfy { (0x20...0x7e).contains($0) } && head.count <= 64
        let name = isText ? String(decoding: head, as: UTF8.self) : "?"
        return head.count == key.count ? name : name + ":*"
    }
}
