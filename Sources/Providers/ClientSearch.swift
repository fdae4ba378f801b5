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
    /// Clients by the SHA-256 of the token.
    private let found = Mutex<[[UInt8]: String]>([:])

    init(_ clientIDs: some Sequence<String>) { self.clientIDs = clientIDs.sorted() }

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
        if let known = client(of: credential) { return await ask(credential.issued(to: known)) }
        let answer = await ask(credential)
        switch answer {
        case .live: note(credential)
        case .dead, .unknown, .trouble(.rejected), .trouble(.refused):
            return await askOthers(about: credential, after: answer, ask)
        case .trouble: break
        }
        return answer
    }

    private func askOthers(
        about credential: OpenCredential,
        after answer: CheckAnswer,
        _ ask: (OpenCredential) async -> CheckAnswer
    ) async -> CheckAnswer {
        var answer = answer
        for clientID in clientIDs where clientID != credential.clientID {
            let other = credential.issued(to: clientID)
            switch await ask(other) {
            case .live:
                note(other)
                return .live
            case .dead, .trouble(.rejected), .trouble(.refused): continue
            // The token may be this client's, which cannot be asked as it is set up.
            case .unknown, .trouble(.misconfigured): answer = .unknown
            case .trouble(let trouble): return .trouble(trouble)
            }
        }
        return answer
    }

    /// Revokes a token with its own client.
    ///
    /// - Parameters:
    ///   - credential: As it is stored.
    ///   - ask: Asks once whether the token is live; `nil` where that cannot be asked.
    ///   - send: Revokes for the credential's client.
    /// - Returns: That a token is invalid only when every client heard so.
    func revoke(
        _ credential: OpenCredential,
        asking ask: ((OpenCredential) async -> CheckAnswer)?,
        _ send: (OpenCredential) async -> RevokeAnswer
    ) async -> RevokeAnswer {
        guard clientIDs.count > 1 else { return await send(credential) }
        if let known = client(of: credential) { return await send(credential.issued(to: known)) }
        if let ask {
            switch await check(credential, ask) {
            case .live:
                let owner = client(of: credential) ?? credential.clientID
                return await send(credential.issued(to: owner))
            case .trouble(let trouble): return .trouble(trouble)
            case .dead, .unknown: break
            }
        }
        let answer = await send(credential)
        switch answer {
        case .alreadyInvalid, .success, .trouble(.rejected), .trouble(.refused): break
        case .grantGone, .unfit, .userOnly, .trouble: return answer
        }
        return await sendForOthers(credential, after: answer, send)
    }

    /// A server that answers success to anything (RFC 7009 §2.2) is asked for each client.
    private func sendForOthers(
        _ credential: OpenCredential,
        after answer: RevokeAnswer,
        _ send: (OpenCredential) async -> RevokeAnswer
    ) async -> RevokeAnswer {
        var answer = answer
        for clientID in clientIDs where clientID != credential.clientID {
            switch await send(credential.issued(to: clientID)) {
            case .success: answer = .success
            case .grantGone: answer = .grantGone
            // Another client's token is refused in any way (RFC 7009 §2.1).
            case .alreadyInvalid, .unfit, .userOnly, .trouble(.rejected), .trouble(.refused),
                .trouble(.misconfigured):
                continue
            case .trouble(let trouble): return .trouble(trouble)
            }
        }
        return answer
    }

    private func client(of credential: OpenCredential) -> String? {
        guard clientIDs.count > 1 else { return nil }
        let digest = credential.secret.withBytes { SHA256Digest.hash($0) }
        return found.withLock { $0[digest] }
    }

    private func note(_ credential: OpenCredential) {
        guard clientIDs.count > 1 else { return }
        let digest = credential.secret.withBytes { SHA256Digest.hash($0) }
        found.withLock { found in
            if found.count >= Self.tokensMax { found = [:] }
            found[digest] = credential.clientID
        }
    }
}
