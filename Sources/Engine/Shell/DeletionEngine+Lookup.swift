import Lifecycle
import Synchronization

extension DeletionEngine {
    func lookUp(
        _ id: RequestID,
        at name: ProviderName,
        _ user: UserID,
        _ known: [SealedCredential],
        _ license: EffectLicense
    ) async {
        guard mayBegin(license) else {
            return answer(id, .failure(.vaultSealed), from: name, license)
        }
        let (directory, providers) = adapters.withLock { ($0.directory, $0.providers) }
        guard let directory, directory.name == name else {
            answer(id, .failure(.notConfigured(client: name.rawValue)), from: name, license)
            return
        }
        let began = ContinuousClock.now
        let links = await directory.links(of: user)
        report(name, links.failure, since: began)
        switch links {
        case .links(let links):
            let matcher = LinkMatcher(opener: opener, providers: providers)
            let found = matcher.identities(of: links, among: known, makeIdentity: newIdentity)
            answer(id, .found(found), from: name, license)
        case .failure(let failure): answer(id, .failure(failure), from: name, license)
        }
    }

    private func answer(
        _ id: RequestID,
        _ answer: LookupAnswer,
        from name: ProviderName,
        _ license: EffectLicense
    ) {
        post(.answered(id, .lookedUp(answer), name, answer.failure), license)
    }

    private func newIdentity() -> IdentityID {
        var generator = SystemRandomNumberGenerator()
        return IdentityID(TimeOrderedID(at: ports.clock.now(), entropy: &generator))
    }
}
