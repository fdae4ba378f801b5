import Encoding

/// A provider's refusal: its answer, and its error code for the journal.
struct FamilyRefusal: Error, Sendable {
    let code: String
    let reply: ProviderReply
    var isRecorded = false

    init(_ code: String, _ reply: ProviderReply) {
        self.code = code
        self.reply = reply
    }

    /// An error in the form of RFC 6749 §5.2.
    static func oauth(
        _ error: String,
        _ description: String? = nil,
        status: Int = 400
    ) -> FamilyRefusal {
        let body: JSONValue = [
            "error": .string(error), "error_description": JSONValue(description),
        ]
        return FamilyRefusal(error, .json(body, status: status))
    }

    /// What libcrypto's failure looks like from outside.
    static let internalError = FamilyRefusal("server_error", ProviderReply(status: 500))
}
