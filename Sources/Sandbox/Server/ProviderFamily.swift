/// Stands in for the endpoints of one provider.
///
/// A family is one folder: its state behind its own lock, its endpoints, and its rows in the admin
/// routes. The server calls families from several event loops at once and asks the first one that
/// claims a path.
protocol ProviderFamily: Sendable {
    /// The endpoint behind a path; `nil` when it is not this family's.
    func endpoint(method: String, path: String) -> SandboxEndpoint?

    /// Acts on a call and answers it. Records it in the journal inside the family's lock, so that
    /// the order of the records is the order of the effects.
    func answer(_ call: ProviderCall) -> ProviderReply

    /// Records a call that a fault kept from acting.
    func recordSkipped(_ call: ProviderCall, status: Int)
}

/// One call to a provider's endpoint.
struct ProviderCall: Sendable {
    let endpoint: SandboxEndpoint
    let contentType: String?
    let body: [UInt8]
    /// The fault that the answer will suffer; only for the journal.
    var fault: FaultKind?
}

/// What a provider answers.
struct ProviderReply: Sendable {
    var status: Int
    var contentType: String?
    var retryAfterSeconds: Int?
    var body: [UInt8]

    init(
        status: Int,
        contentType: String? = nil,
        retryAfterSeconds: Int? = nil,
        body: [UInt8] = []
    ) {
        self.status = status
        self.contentType = contentType
        self.retryAfterSeconds = retryAfterSeconds
        self.body = body
    }
}
