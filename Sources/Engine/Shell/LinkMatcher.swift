import Lifecycle

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
