package import Lifecycle

/// What a plan is to be made of.
package struct PlanOrder: Sendable {
    package let order: PurgeOrder
    /// Keyed hash of the user id.
    package let userHash: [UInt8]
    /// The identities that would be revoked.
    package let links: [PurgePlan.Link]
    /// In the order of purging.
    package let targets: [TargetName]

    package init(
        order: PurgeOrder,
        userHash: [UInt8],
        links: [PurgePlan.Link],
        targets: [TargetName]
    ) {
        self.order = order
        self.userHash = userHash
        self.links = links
        self.targets = targets
    }
}

/// Asks the stores, one after the other, what a purge would do, and makes one plan of it.
package struct PurgePlanner: Sendable {
    /// Hexadecimal digits of a plan's hash: 128 bits, short enough to be copied by hand.
    private static let hashByteCount = 16

    private let targets: [TargetName: any PurgeTarget]
    private let hasher: any KeyedHasher

    package init(targets: [TargetName: any PurgeTarget], hasher: any KeyedHasher) {
        self.targets = targets
        self.hasher = hasher
    }

    /// Makes the plan; changes nothing.
    package func make(_ order: PlanOrder) async -> PlanResult {
        var parts: [PurgePlan.Part] = []
        for name in order.targets {
            switch await targets[name]?.plan(order.order) ?? .trouble(.misconfigured) {
            case .items(let items): parts.append(PurgePlan.Part(target: name, items: items))
            case .unknown: parts.append(PurgePlan.Part(target: name, items: nil))
            case .trouble(let trouble): return .trouble(name, trouble)
            }
        }
        let text = PurgePlan.canonicalText(of: order.links, parts, user: order.userHash)
        let bytes = hasher.hash(text, domain: .plan).prefix(Self.hashByteCount)
        let hash = bytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        return .made(PurgePlan(links: order.links, parts: parts, hash: hash))
    }
}
