import Encoding
package import Lifecycle

/// The key file of a Google service account, as the console hands it out.
///
/// Fields as in "Create and delete service account keys" (cloud.google.com/iam/docs).
package struct ServiceAccountKey: Sendable {
    /// Becomes `iss`; names a machine, not a person.
    package let clientEmail: String
    /// Becomes `kid`.
    package let keyID: String
    /// Where assertions go, and their `aud`.
    package let tokenURL: String
    /// The project of the account, when the file names it.
    package let projectID: String?
    /// PKCS#8 PEM.
    package let privateKey: Secret

    /// Reads the content of a key file.
    ///
    /// - Throws: ``SetupError`` of kind `malformedServiceAccount` for any other JSON.
    package init(file: Secret, of owner: RemoteOwner) throws(SetupError) {
        guard let json = JSONValue(file.withBytes { Array($0) }),
            json["type"]?.string == "service_account",
            let email = json["client_email"]?.string, !email.isEmpty,
            let keyID = json["private_key_id"]?.string, !keyID.isEmpty,
            let key = json["private_key"]?.string, !key.isEmpty
        else { throw SetupError(kind: .malformedServiceAccount, owner: owner) }
        clientEmail = email
        self.keyID = keyID
        tokenURL = json["token_uri"]?.string ?? "https://oauth2.googleapis.com/token"
        projectID = json["project_id"]?.string
        privateKey = Secret(key)
    }
}
