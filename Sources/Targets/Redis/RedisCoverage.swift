import Lifecycle

/// Looks for families of keys, what stands before the first colon, that no rule deals with.
struct RedisCoverage {
    private let plan: RedisTargetPlan

    init(_ plan: RedisTargetPlan) { self.plan = plan }

    /// The rules, and the families beside them; a sample of the keys is looked at.
    ///
    /// - Throws: ``RedisError``.
    func findings(_ sweep: RedisSweep) async throws(RedisError) -> [CoverageFinding] {
        let globs = plan.keys.map(\.anyUser) + plan.members.map { NameGlob($0.key) }
        var cursor = RedisCursor([Array("SCAN".utf8)], match: nil, for: sweep)
        var seenCount = 0
        var strays: [String: Int] = [:]
        while cursor.stepCount < RedisLimits.coverageSteps, let keys = try await cursor.next() {
            seenCount += keys.count
            for key in keys where !globs.contains(where: { $0.matches(key) }) {
                strays[Self.family(of: key), default: 0] += 1
            }
        }
        if strays.count > RedisLimits.coverageNames {
            strays = ["*": strays.values.reduce(0, +)]
        }
        let rules = plan.keys.map(\.description) + plan.members.map(\.description)
        return rules.map {
            CoverageFinding(name: $0, reason: "configured", isCovered: true)
        }
            + strays.sorted { $0.key < $1.key }.map { family, count in
                CoverageFinding(
                    name: family,
                    reason: "\(count) of \(seenCount) keys looked at, no rule fits them",
                    isCovered: false
                )
            }
    }

    private static func family(of key: [UInt8]) -> String {
        let head = key.prefix { $0 != UInt8(ascii: ":") }
        let isText = head.allSatisfy { (0x20...0x7e).contains($0) } && head.count <= 64
        let name = isText ? String(decoding: head, as: UTF8.self) : "?"
        return head.count == key.count ? name : name + ":*"
    }
}
