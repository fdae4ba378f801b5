import Encoding
import Lifecycle

extension SignInInput: WireObject {
    package static let fields: [WireField] = [
        .required("provider", .text, "Where the user signed in."),
        .optional("client_id", .text, "Required when the provider has several."),
        .required("id_token", .secret, "Proves who signed in, and when."),
        .required("raw_nonce", .secret, "The nonce before it was hashed."),
    ]

    /// Reads the `sign_in` of a request.
    ///
    /// - Parameter members: The members as they came.
    /// - Throws: ``ControlProblem`` that names the first field at fault.
    init(members: [JSONValue.Member]) throws(ControlProblem) {
        let object = try InputObject(
            members: members,
            of: "sign_in",
            malformed: .malformedField,
            fields: Self.fields
        )
        guard let provider = try object.providerName("provider") else {
            throw object.problem("provider", "is missing", .missingField)
        }
        guard let idToken = try object.secret("id_token") else {
            throw object.problem("id_token", "is missing", .missingField)
        }
        guard let rawNonce = try object.secret("raw_nonce") else {
            throw object.problem("raw_nonce", "is missing", .missingField)
        }
        self.init(
            provider: provider,
            clientID: try object.text("client_id"),
            idToken: idToken,
            rawNonce: rawNonce
        )
    }

    /// Writes it with its secrets in the clear.
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("provider", provider.rawValue)
            writer.member("client_id", clientID)
            writer.member("id_token", idToken.exposeText())
            writer.member("raw_nonce", rawNonce.exposeText())
        }
    }
}
