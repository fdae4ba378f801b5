import Lifecycle

/// What is over in a request.
struct Finals: Equatable {
    private struct Link: Equatable {
        let verdict: Verdict
        let credentialCount: Int
    }

    private let end: WireState?
    private let links: [IdentityID: Link]
    private let verified: Set<TargetName>

    init(_ request: Request) {
        end = request.phase.isEnded ? request.phase.wireState : nil
        links = request.revocations.reduce(into: [:]) { links, revocation in
            links[revocation.identity] = revocation.verdict.map {
                Link(verdict: $0, credentialCount: revocation.credentials.count)
            }
        }
        verified = Set(request.purges.filter { $0.step == .verified }.map(\.target))
    }

    /// Whether nothing of this is another in `later`; only a new sign-in opens a verdict again.
    func allows(_ later: Request) -> Bool {
        let now = Finals(later)
        return (end == nil || now.end == end) && verified.isSubset(of: now.verified)
            && later.revocations.allSatisfy { revocation in
                guard let link = links[revocation.identity] else { return true }
                return now.links[revocation.identity]?.verdict == link.verdict
                    || revocation.credentials.count > link.credentialCount
            }
    }
}
