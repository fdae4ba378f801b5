/// What a call presents, for the journal.
struct CallNote: Sendable {
    var record: CallRecord
    var token: TokenDigest?

    /// - Parameters:
    ///   - provider: The family.
    ///   - call: The call.
    ///   - grantType: As sent.
    ///   - clientID: As sent.
    ///   - token: The code or token that the call is about.
    init(
        _ provider: String,
        _ call: ProviderCall,
        grantType: String? = nil,
        clientID: String? = nil,
        token: String? = nil
    ) {
        record = CallRecord(
            provider: provider,
            endpoint: call.endpoint,
            outcome: .none,
            status: 200
        )
        record.fault = call.fault
        // Bounded, since they come from the caller.
        record.grantType = grantType.map { String($0.prefix(64)) }
        record.clientID = clientID.map { String($0.prefix(255)) }
        self.token = token.map { TokenDigest($0) }
    }
}
