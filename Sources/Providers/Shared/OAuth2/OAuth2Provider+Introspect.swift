import Encoding
import Engine
import HTTP
import Lifecycle
import Synchronization

/// For which clients and kinds of token introspection was asked, and for which it said "active".
struct IntrospectionRecord: Sendable {
    struct Subject: Hashable, Sendable {
        let clientID: String
        let kind: CredentialKind
    }

    /// Of these, "inactive" can be believed.
    var shownLive: Set<Subject> = []
    /// Of these, a token fresh from an exchange was asked about; once is enough.
    var asked: Set<Subject> = []
}

extension OAuth2Provider {
    /// Asks by RFC 7662.
    ///
    /// "Inactive" is also what a client hears that may not ask about this token (§2.2), and what
    /// servers say of each refresh token that know access tokens only (Django OAuth Toolkit). So it
    /// is death only once the same client has been shown a live token of the same kind in this
    /// process.
    func introspect(_ credential: OpenCredential) async -> CheckAnswer {
        let (clientID, kind) = (credential.clientID, credential.kind)
        let subject = IntrospectionRecord.Subject(clientID: clientID, kind: kind)
        let reading = await ask(.introspection, clientID, OAuth2Replies.introspection) { form in
            form.add("token", credential.secret)
            form.add("token_type_hint", kind.rawValue)
        }
        switch reading.meaning {
        case .honoured:
            introspected.withLock { _ = $0.shownLive.insert(subject) }
            // Keycloak shows each client the tokens of all; only its own can revoke one.
            if let owner = reading.json?["client_id"]?.string, clients[owner] != nil {
                search.note(credential.issued(to: owner))
            }
            return .live
        case .refused:
            return introspected.withLock { $0.shownLive.contains(subject) } ? .dead : .unknown
        case .unclear: return .failure(.rejected)
        case .failure(.rejected) where reading.refusal?.isForeign == true:
            return .failure(.unusable)
        case .failure(let failure): return .failure(failure)
        }
    }

    /// Asks about the first tokens of a client that are known to be live, so that "inactive" means
    /// something from then on: an identity may be deleted right after its sign-in, and an access
    /// token has mostly died with its refresh token by the time that it is asked about.
    func learnIntrospection(from grant: TokenGrant, clientID: String) async {
        guard check == .introspection else { return }
        let tokens: [(CredentialKind, Secret?)] = [
            (.accessToken, grant.accessToken), (.refreshToken, grant.refreshToken),
        ]
        for case (let kind, let secret?) in tokens {
            let subject = IntrospectionRecord.Subject(clientID: clientID, kind: kind)
            let isNew = introspected.withLock {
                !$0.shownLive.contains(subject) && $0.asked.insert(subject).inserted
            }
            guard isNew else { continue }
            _ = await introspect(OpenCredential(kind: kind, clientID: clientID, secret: secret))
        }
    }
}
