/// What an application holds after a user signed in with Apple.
package struct AppleSignIn: Codable, Sendable {
    /// The authorization code: five minutes, one use.
    package let code: String
    /// The identity token, RS256.
    package let idToken: String
    /// Apple's identifier of the user, the same for every client of a team.
    package let subject: String
    /// The nonce before hashing; the id token has its SHA-256 in hexadecimal.
    package let rawNonce: String

    private enum CodingKeys: String, CodingKey {
        case code
        case idToken = "id_token"
        case subject
        case rawNonce = "raw_nonce"
    }
}

/// A refresh token that was made without a sign-in.
package struct AppleIssuedToken: Codable, Sendable {
    /// The name that the admin routes know the user by.
    package let user: String
    /// Apple's identifier of the user.
    package let subject: String
    /// The token.
    package let refreshToken: String

    private enum CodingKeys: String, CodingKey {
        case user
        case subject
        case refreshToken = "refresh_token"
    }
}

/// A user's authorization of a team, as the user sees it in the settings of the device.
package struct AppleGrant: Codable, Equatable, Sendable {
    /// Whether the application is on the user's "Sign in with Apple" list.
    package enum State: String, Codable, Sendable {
        /// It is.
        case live
        /// It was, and was cut by a revoke or by the user.
        case revoked
    }

    /// The name that the admin routes know the user by.
    package let user: String
    /// Apple's identifier of the user.
    package let subject: String
    /// The team that the user authorized.
    package let teamID: String
    /// Whether it still stands.
    package let state: State

    private enum CodingKeys: String, CodingKey {
        case user
        case subject
        case teamID = "team_id"
        case state
    }
}

/// A notification that Apple sends to the application's server.
package struct AppleNotification: Codable, Sendable {
    /// The kinds that matter for deletion; both spellings of the last one are in use.
    package enum Event: String, CaseIterable, Codable, Sendable {
        /// The user stopped using Apple with the application.
        case consentRevoked = "consent-revoked"
        /// The Apple account is gone, as deployed handlers spell it.
        case accountDelete = "account-delete"
        /// The Apple account is gone, as the current documentation spells it.
        case accountDeleted = "account-deleted"
    }

    /// The signed event; `{"payload": …}` is the whole body of the notification.
    package let payload: String
}
