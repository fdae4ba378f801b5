import Lifecycle

/// What is over in a request.
struct Finals: Equatable {
    private struct Link: Equatable {
        let verdict: Verdict
        let credentialCount: Int
    }

    private let end: RequestState?
    private let links: [IdentityID: Link]
    private let verified: Set<StoreName>

    init(_ request: Request) {
        end = request.phase.isEnded ? request.phase.state : nil
        links = request.revocations.reduce(into: [:]) { links, revocation in
            links[revocation.identity] = revocation.verdict.map {
                Link(verdict: $0, credentialCount: Self.credentialCount(revocation, request))
            }
        }
        verified = Set(request.purges.filter { $0.step == .verified }.map(\.store))
    }

    /// A link ends with the credentials of its provider.
    private static func credentialCount(_ revocation: Revocation, _ request: Request) -> Int {
        guard revocation.isLinked else { return revocation.credentials.count }
        return request.revocations.filter { $0.provider == revocation.provider }
            .reduce(0) { $0 + $1.credentials.count }
    }

    /// Whether nothing of this is another in `later`; only a new sign-in opens a verdict again.
    func allows(_ later: Request) -> Bool {
        let now = Finals(later)
        return (end == nil || now.end == end) && verified.isSubset(of: now.verified)
            && later.revocations.allSatisfy { revocation in
                guard let link = links[revocation.identity] else { return true }
                return now.links[revocation.identity]?.verdict == link.verdict
                    || Self.credentialCount(revocation, later) > link.credentialCount
            }
    }
}
