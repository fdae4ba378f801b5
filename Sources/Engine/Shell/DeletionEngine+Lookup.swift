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

/// Finds which of the vault's identities a directory's links are.
///
/// A directory may name a user otherwise than the provider does: Firebase leaves the tenant out of
/// a Microsoft name. So the provider compares the names themselves, before only hashes are left.
struct LinkMatcher: Sendable {
    let opener: CredentialOpener
    let providers: [ProviderName: any IdentityProvider]

    private struct Known {
        let provider: ProviderName
        let subject: Secret
        let hash: [UInt8]
    }

    /// Gives each link the hash of the vault's own name for it, or that of its own.
    func identities(
        of links: [DirectoryLink],
        among sealed: [SealedCredential],
        makeIdentity: () -> IdentityID
    ) -> [LinkedIdentity] {
        let known = sealed.compactMap { credential -> Known? in
            guard let learned = credential.subject else { return nil }
            do {
                guard let subject = try opener.openSubject(of: credential) else { return nil }
                return Known(provider: credential.provider, subject: subject, hash: learned.hash)
            } catch {
                // The vault lacks the key: then the hashes decide, and the revocation waits for it.
                return nil
            }
        }
        return links.map { link in
            LinkedIdentity(
                identity: makeIdentity(),
                provider: link.provider,
                isLocal: link.isLocal,
                subjectHash: link.subject.map { hash(of: $0, at: link.provider, known) }
            )
        }
    }

    private func hash(of name: Secret, at provider: ProviderName, _ known: [Known]) -> [UInt8] {
        let match = known.first { identity in
            guard identity.provider == provider, let adapter = providers[provider] else {
                return false
            }
            return adapter.isName(name, of: identity.subject)
        }
        return match?.hash ?? SubjectHash.make(name, at: provider, opener.hasher)
    }
}
