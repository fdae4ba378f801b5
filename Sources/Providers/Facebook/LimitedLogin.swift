import Encoding
import Engine
import HTTP
import Lifecycle

/// Verifies id tokens of Facebook Limited Login.
///
/// "Validating the Limited Login OIDC Token": RS256 with keys of its own. No page names the issuer,
/// so it is read from the discovery document; the keys' address is not.
struct LimitedLogin: Sendable {
    /// What the discovery document said with the keys that are in use.
    private let issuer = Latest<String?>(nil)
    private let keys: SigningKeyCache
    private let now: @Sendable () -> WallTime

    init(
        _ http: RemoteClient,
        discovery: RemoteEndpoint,
        keys keySet: RemoteEndpoint,
        now: @escaping @Sendable () -> WallTime
    ) {
        self.now = now
        keys = SigningKeyCache(now: now) { [published = issuer] in
            guard case .reply(let document) = await http.send(RemoteRequest(discovery)),
                document.status == 200,
                let issuer = JSONValue(document.body)?["issuer"]?.string,
                issuer.hasPrefix("https://"),
                let keys = await http.keySet(at: keySet)
            else { return nil }
            published.value = issuer
            return keys
        }
    }

    func verify(
        _ signIn: SignIn,
        at provider: ProviderName
    ) async throws(SignInError) -> VerifiedSignIn {
        // Reads keys and issuer when they are not there yet; without them no signature is good.
        if let keyID = IDToken(signIn.idToken)?.keyID { _ = await keys.set(for: keyID) }
        let rules = IDTokenRules(
            provider: provider,
            issuer: .oneOf(issuer.value.map { [$0] } ?? []),
            // "Limited Login": the SDK takes the raw nonce, or its SHA-256 in hexadecimal.
            nonce: .any,
            keys: keys,
            now: now()
        )
        return try await rules.verify(signIn)
    }
}
