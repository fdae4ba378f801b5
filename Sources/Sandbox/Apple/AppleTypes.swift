/// What Apple tells the application's server, as far as it matters for deletion; both spellings of
/// the last one are in use.
package enum AppleEvent: String, CaseIterable, Sendable {
    case consentRevoked = "consent-revoked"
    case accountDelete = "account-delete"
    case accountDeleted = "account-deleted"
}

/// Clients of a team and the key that signs their secrets.
package struct AppleRegistration: Codable, Sendable {
    package let teamID: String
    package let keyID: String
    /// PEM, public or private (a .p8); only the public half is used.
    package let keyPEM: String
    package let clientIDs: [String]

    package init(teamID: String, keyID: String, keyPEM: String, clientIDs: [String]) {
        self.teamID = teamID
        self.keyID = keyID
        self.keyPEM = keyPEM
        self.clientIDs = clientIDs
    }

    private enum CodingKeys: String, CodingKey {
        case teamID = "team_id"
        case keyID = "key_id"
        case keyPEM = "key_pem"
        case clientIDs = "client_ids"
    }
}
