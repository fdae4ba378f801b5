/// What the sandbox saw and did for one call, without anything secret.
package struct CallRecord: Codable, Equatable, Sendable {
    /// What the call did to the provider's state.
    package enum Outcome: String, Codable, Sendable {
        case exchanged
        /// A refresh token was found live.
        case validated
        case revoked
        /// A revoke answered 200 and changed nothing: garbage, dead token, code, id token.
        case ignored
        case checked
        /// Keys or metadata were handed out.
        case served
        /// The call was refused with ``CallRecord/error``.
        case refused
        /// A fault came first; nothing was done.
        case none
    }

    /// Counts the calls from 1, in the order in which they took effect.
    package var sequence: UInt64 = 0
    /// Wall time by the sandbox's clock (with its offset), in Unix milliseconds.
    package var timeMilliseconds: Int64 = 0
    package var provider: String
    package var endpoint: SandboxEndpoint
    package var grantType: String?
    package var clientID: String?
    /// The provider's subject when the code or token was known.
    package var subject: String?
    /// The first 64 bits of the SHA-256 of the code or token, in hexadecimal.
    package var token: String?
    package var outcome = Outcome.none
    /// The HTTP status of the answer; 0 when none was sent.
    package var status: Int
    package var error: String?
    package var fault: FaultKind?

    init(provider: String, _ call: Call, status: Int) {
        (self.provider, self.status) = (provider, status)
        endpoint = call.endpoint
        fault = call.fault
        // Bounded, since they come from the caller.
        grantType = call.note.grantType.map { String($0.prefix(64)) }
        clientID = call.note.clientID.map { String($0.prefix(255)) }
    }

    private enum CodingKeys: String, CodingKey {
        case sequence, provider, endpoint, subject, outcome, status, error, fault
        case timeMilliseconds = "time_unix_ms"
        case grantType = "grant_type"
        case clientID = "client_id"
        case token = "token_sha256_prefix"
    }
}
