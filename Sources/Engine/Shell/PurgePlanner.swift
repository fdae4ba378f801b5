package import Lifecycle

/// What a plan is to be made of.
package struct PlanOrder: Sendable {
    package let order: PurgeOrder
    package let userHash: [UInt8]
    package let links: [PurgePlan.Link]
    package let sources: [PlanSource]

    package init(
        order: PurgeOrder,
        userHash: [UInt8],
        links: [PurgePlan.Link],
        sources: [PlanSource]
    ) {
        (self.order, self.userHash, self.links, self.sources) = (order, userHash, links, sources)
    }
}

extension EngineAdapters {
    package func planner(_ hasher: any KeyedHasher) -> PurgePlanner {
        PurgePlanner(stores: stores, rules: rules, hasher: hasher)
    }
}

/// Asks the stores, one after the other, what a purge would do, and makes one plan of it.
package struct PurgePlanner: Sendable {
    /// Hexadecimal digits of a plan's hash: 128 bits, short enough to be copied by hand.
    private static let hashByteCount = 16

    let stores: [StoreName: any PurgeStore]
    let rules: [StoreName: [PurgePlan.Rule]]
    let hasher: any KeyedHasher

    package func make(_ order: PlanOrder) async -> PlanResult {
        var parts: [PurgePlan.Part] = []
        for source in order.sources {
            let name = source.store
            if case .kept(let part) = source {
                parts.append(part)
                continue
            }
            switch await stores[name]?.plan(order.order) ?? .failure(.misconfigured) {
            case .items(let items): parts.append(source.part(of: part(name, items)))
            case .unknown: parts.append(source.part(of: part(name, nil)))
            case .failure(let failure): return .failure(name, failure)
            }
        }
        let text = PurgePlan.canonicalText(of: order.links, parts, user: order.userHash)
        let bytes = hasher.hash(text, domain: .plan).prefix(Self.hashByteCount)
        let hash = bytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        return .made(PurgePlan(links: order.links, parts: parts, hash: hash))
    }

    private func part(_ name: StoreName, _ items: [PlanItem]?) -> PurgePlan.Part {
        PurgePlan.Part(store: name, items: items, rules: rules[name] ?? [])
    }
}
