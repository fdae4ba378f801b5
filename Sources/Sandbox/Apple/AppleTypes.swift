/// What an application holds after a user signed in with Apple.
package struct AppleSignIn: Codable, Sendable {
    /// The authorization code: five minutes, one use.
    package let code: String
    package let idToken: String
    /// Apple's identifier of the user, the same for every client of a team.
    package let subject: String
    /// The nonce before hashing; the id token has its SHA-256 in hexadecimal.
    package let rawNonce: String

    private enum CodingKeys: String, CodingKey {
        case code, subject
        case idToken = "id_token"
        case rawNonce = "raw_nonce"
    }
}

/// A refresh token that was made without a sign-in.
package struct AppleIssuedToken: Codable, Sendable {
    package let user: String
    /// Apple's identifier of the user.
    package let subject: String
    package let refreshToken: String

    private enum CodingKeys: String, CodingKey {
        case user, subject
        case refreshToken = "refresh_token"
    }
}

/// A notification that Apple sends to the application's server.
package struct AppleNotification: Sendable {
    /// The kinds that matter for deletion; both spellings of the last one are in use.
    package enum Event: String, CaseIterable, Sendable {
        case consentRevoked = "consent-revoked"
        case accountDelete = "account-delete"
        case accountDeleted = "account-deleted"
    }

    /// The signed event; `{"payload": …}` is the whole body of the notification.
    package let payload: String
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
