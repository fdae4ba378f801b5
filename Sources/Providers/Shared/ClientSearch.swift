import Engine
import Lifecycle
import Synchronization

/// Finds the client that a token was issued to, where a provider has several.
///
/// Applications store a token of their iOS client under the id of their web client. Only its own
/// client is told anything about a token, so a refusal counts once every client was refused.
final class ClientSearch: Sendable {
    /// Tokens whose client is remembered; one that was forgotten is searched for again.
    private static let tokensMax = 16_384

    private let clientIDs: [String]
    private let stopsAtSuccess: Bool
    /// Clients by the SHA-256 of the token.
    private let found = Mutex<[[UInt8]: String]>([:])

    /// - Parameters:
    ///   - clientIDs: All clients of the provider.
    ///   - stopsAtSuccess: Whether a revocation that succeeds needs no other client: the provider
    ///     says success of live tokens alone, or the call names no client.
    init(_ clientIDs: some Sequence<String>, stopsAtSuccess: Bool = false) {
        self.clientIDs = clientIDs.sorted()
        self.stopsAtSuccess = stopsAtSuccess
    }

    /// Asks about a token with its own client, and with the others where that refuses it.
    ///
    /// - Parameters:
    ///   - credential: As it is stored.
    ///   - ask: Asks once, for the credential's client.
    /// - Returns: `dead` only when every client heard that; `unknown` when one could not ask.
    func check(
        _ credential: OpenCredential,
        _ ask: (OpenCredential) async -> CheckAnswer
    ) async -> CheckAnswer {
        guard clientIDs.count > 1 else { return await ask(credential) }
        if let known = client(of: credential) { return await ask(issued(credential, to: known)) }
        var answer = await ask(issued(credential, to: credential.clientID))
        switch answer {
        case .live:
            noteUnlessKnown(credential)
            return answer
        case .dead, .unknown, .failure(.rejected), .failure(.refused): break
        case .failure: return answer
        }
        for other in others(of: credential) {
            // The client that was just asked has shown to be the token's own.
            if client(of: credential) != nil { return answer }
            let next = await ask(issued(credential, to: other))
            switch next {
            case .live:
                noteUnlessKnown(credential.issued(to: other))
                return next
            case .dead, .failure(.rejected), .failure(.refused): continue
            // The token may be this client's, which cannot be asked as it is set up.
            case .unknown: answer = .unknown
            case .failure(.misconfigured): answer = client(of: credential) == nil ? .unknown : next
            case .failure: return next
            }
        }
        return answer
    }

    /// Revokes a token with its own client; where that is not known, with each.
    ///
    /// Another client's revocation does no harm (RFC 7009 §2.1), while a question might rotate the
    /// token that is about to be revoked.
    ///
    /// - Parameters:
    ///   - credential: As it is stored.
    ///   - send: Revokes for the credential's client.
    /// - Returns: That a token is invalid only when every client heard so.
    func revoke(
        _ credential: OpenCredential,
        _ send: (OpenCredential) async -> RevokeAnswer
    ) async -> RevokeAnswer {
        guard clientIDs.count > 1 else { return await send(credential) }
        if let known = client(of: credential) { return await send(issued(credential, to: known)) }
        var answer = await send(issued(credential, to: credential.clientID))
        switch answer {
        case .alreadyInvalid, .success, .failure(.rejected), .failure(.refused): break
        case .grantGone, .unfit, .userOnly, .failure: return answer
        }
        for other in others(of: credential) {
            if client(of: credential) != nil || stopsAtSuccess && answer == .success {
                return answer
            }
            let next = await send(issued(credential, to: other))
            if client(of: credential) != nil { return next }
            switch next {
            case .success, .grantGone: answer = next
            // What is refused itself cannot say that the token is invalid.
            case .failure(.misconfigured) where answer == .alreadyInvalid: return next
            // Another client's token is refused in any way (RFC 7009 §2.1).
            case .alreadyInvalid, .unfit, .userOnly, .failure(.rejected), .failure(.refused),
                .failure(.misconfigured):
                continue
            case .failure: return next
            }
        }
        return answer
    }

    /// Remembers the credential's client as the token's own.
    func note(_ credential: OpenCredential) { note(credential.secret, of: credential.clientID) }

    /// What the provider said of the owner is more than that it told another client.
    private func noteUnlessKnown(_ credential: OpenCredential) {
        if client(of: credential) == nil { note(credential) }
    }

    private func others(of credential: OpenCredential) -> [String] {
        clientIDs.filter { $0 != credential.clientID }
    }

    /// The credential as one client's; whose refresh rotates it, its own is.
    private func issued(_ credential: OpenCredential, to clientID: String) -> OpenCredential {
        var issued = credential.issued(to: clientID)
        issued.keeper = TokenKeeper { [self] next in
            note(credential.secret, of: clientID)
            note(next, of: clientID)
            return await credential.keeper?.keep(next) ?? false
        }
        return issued
    }

    private func client(of credential: OpenCredential) -> String? {
        let digest = credential.secret.withBytes { SHA256Digest.hash($0) }
        return found.withLock { $0[digest] }
    }

    private func note(_ secret: Secret, of clientID: String) {
        guard clientIDs.count > 1 else { return }
        let digest = secret.withBytes { SHA256Digest.hash($0) }
        found.withLock { found in
            if found.count >= Self.tokensMax { found = [:] }
            found[digest] = clientID
        }
    }
}
