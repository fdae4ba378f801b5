import Lifecycle
import Synchronization

extension DeletionEngine {
    func lookUp(
        _ id: RequestID,
        at name: ProviderName,
        _ user: UserID,
        _ known: [SealedCredential]
    ) async {
        let (directory, providers) = adapters.withLock { ($0.directory, $0.providers) }
        guard let directory, directory.name == name else {
            answer(id, .failure(.misconfigured), from: name)
            return
        }
        let began = ContinuousClock.now
        let links = await directory.links(of: user)
        report(name, links.failure, since: began)
        switch links {
        case .links(let links):
            let matcher = LinkMatcher(opener: opener, providers: providers)
            let found = matcher.identities(of: links, among: known, makeIdentity: newIdentity)
            answer(id, .found(found), from: name)
        case .failure(let failure): answer(id, .failure(failure), from: name)
        }
    }

    private func answer(_ id: RequestID, _ answer: LookupAnswer, from name: ProviderName) {
        post(.answered(id, .lookedUp(answer), name, answer.failure))
    }

    private func newIdentity() -> IdentityID {
        var generator = SystemRandomNumberGenerator()
        return IdentityID(TimeOrderedID(at: ports.clock.now(), entropy: &generator))
    }
}
