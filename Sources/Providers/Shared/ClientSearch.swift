import Cryptography
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
    private let refusesOthersTokens: Bool
    /// Clients by the SHA-256 of the token.
    private let found = Mutex<[[UInt8]: String]>([:])

    /// A revocation that succeeds needs no other client (`stopsAtSuccess`) where the provider says
    /// success of live tokens alone, or the call names no client.
    init(
        _ clientIDs: some Sequence<String>,
        stopsAtSuccess: Bool = false,
        refusesOthersTokens: Bool = true
    ) {
        self.clientIDs = clientIDs.sorted()
        (self.stopsAtSuccess, self.refusesOthersTokens) = (stopsAtSuccess, refusesOthersTokens)
    }

    /// Asks about a token with its own client, and with the others where that refuses it.
    ///
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
            case .dead: continue
            // The token may be this client's, and live.
            case .failure(.rejected), .failure(.refused): if answer == .dead { answer = next }
            // The token may be this client's, which cannot be asked as it is set up.
            case .unknown: answer = .unknown
            case .failure(.misconfigured): answer = client(of: credential) == nil ? .unknown : next
            case .failure: return next
            }
        }
        return answer
    }

    /// What one client got as the answer to a revocation.
    struct Outcome {
        let answer: RevokeAnswer
        /// The provider refused the client, which works: the token is another client's.
        var isOthers = false

        /// The token may be this client's, and live.
        var isDoubt: Bool {
            switch answer {
            case .failure(.rejected), .failure(.refused): !isOthers
            case .success, .alreadyInvalid, .grantGone, .unfit, .userOnly, .failure: false
            }
        }
    }

    /// Revokes a token with its own client; where that is not known, with each.
    ///
    /// Another client's revocation does no harm (RFC 7009 §2.1), while a question might rotate the
    /// token that is about to be revoked.
    ///
    /// `ask` asks whether it is live, and is `nil` where nothing can be asked right after a
    /// revocation; both closures act for the credential's client.
    ///
    /// - Returns: That a token is invalid only when every client heard so; success only when no
    ///   client was refused that may be the token's own.
    func revoke(
        _ credential: OpenCredential,
        asking ask: ((OpenCredential) async -> CheckAnswer)? = nil,
        _ send: (OpenCredential) async -> Outcome
    ) async -> RevokeAnswer {
        guard clientIDs.count > 1 else { return await send(credential).answer }
        if let known = client(of: credential) {
            return await send(issued(credential, to: known)).answer
        }
        let first = await send(issued(credential, to: credential.clientID))
        var answer = first.answer
        var doubt: RevokeAnswer?
        switch answer {
        case .alreadyInvalid, .success, .failure(.rejected), .failure(.refused): break
        case .grantGone, .unfit, .userOnly, .failure: return answer
        }
        for other in others(of: credential) {
            if client(of: credential) != nil || stopsAtSuccess && answer == .success {
                return answer
            }
            let next = await send(issued(credential, to: other))
            if client(of: credential) != nil { return next.answer }
            switch next.answer {
            case .success, .grantGone: answer = next.answer
            // What is refused itself cannot say that the token is invalid.
            case .failure(.misconfigured) where answer == .alreadyInvalid: return next.answer
            case .failure(.misconfigured): doubt = next.answer
            case .failure(.rejected), .failure(.refused):
                if next.isDoubt { doubt = doubt ?? next.answer }
            // Another client's token is refused in any way (RFC 7009 §2.1).
            case .alreadyInvalid, .unfit, .userOnly: continue
            case .failure: return next.answer
            }
        }
        guard answer == .alreadyInvalid || answer == .success && !stopsAtSuccess else {
            return answer
        }
        if first.isDoubt {
            let again = await send(issued(credential, to: credential.clientID)).answer
            if let refused = refusal(first.answer, again) { return refused }
            // The token was known and refused before, and is unknown now.
            if refusesOthersTokens { return answer }
        }
        guard let doubt else { return answer }
        return await settle(doubt, credential, ask) ?? answer
    }

    /// What remains of the refusal of a client after the success of another one; `again` is the
    /// answer to the same client after it.
    private func refusal(_ first: RevokeAnswer, _ again: RevokeAnswer) -> RevokeAnswer? {
        switch again {
        case .success, .alreadyInvalid, .grantGone: nil
        case .unfit, .userOnly: first
        case .failure: again
        }
    }

    /// Decides about the answer to the stored client beside the refusal of another one.
    ///
    /// Most servers refuse another client's token, also after its revocation. Where nothing can be
    /// asked, a token was seen live only when its own client got it for a code, and that client is
    /// the stored one.
    ///
    /// - Returns: `nil` when that answer counts.
    private func settle(
        _ doubt: RevokeAnswer,
        _ credential: OpenCredential,
        _ ask: ((OpenCredential) async -> CheckAnswer)?
    ) async -> RevokeAnswer? {
        guard refusesOthersTokens else { return doubt }
        guard let ask else { return nil }
        guard doubt != .failure(.misconfigured) else { return doubt }
        switch await check(credential, ask) {
        case .live: return .failure(.rejected)
        case .dead, .unknown: return nil
        case .failure(let failure): return .failure(failure)
        }
    }

    /// Remembers the client that got tokens for a code as theirs.
    func note(_ tokens: ExchangedTokens, of clientID: String) {
        for token in [tokens.refreshToken, tokens.accessToken].compactMap(\.self) {
            note(token, of: clientID)
        }
    }

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
        let digest = credential.secret.withBytes { SHA256.hash($0) }
        return found.withLock { $0[digest] } ?? (credential.isFromCode ? credential.clientID : nil)
    }

    private func note(_ secret: Secret, of clientID: String) {
        guard clientIDs.count > 1 else { return }
        let digest = secret.withBytes { SHA256.hash($0) }
        found.withLock { found in
            if found.count >= Self.tokensMax { found = [:] }
            found[digest] = clientID
        }
    }
}
