/// An endpoint with what answers there.
///
/// A refusal that the service did not record is recorded by the caller.
struct FamilyRoute {
    typealias Answer = (ProviderCall) throws(FamilyRefusal) -> ProviderReply

    let endpoint: SandboxEndpoint
    let answer: Answer

    init(_ endpoint: SandboxEndpoint, _ answer: @escaping Answer) {
        self.endpoint = endpoint
        self.answer = answer
    }
}

struct IDTokenOrder {
    let ticket: GrantBook.Ticket
    let subject: String
    /// The code or the access token that comes along.
    var code: String?
    var accessToken: String?
    let issuedSeconds: Int64
}
