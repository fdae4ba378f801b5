/// The bodies of the admin routes; their members are spelled as in JSON.
// swift-format-ignore: AlwaysUseLowerCamelCase
enum AdminWire {
    struct Registration: Codable {
        var team_id: String
        var key_id: String
        /// PEM, public or private (a .p8); only the public half is used.
        var key_pem: String
        var client_ids: [String]
    }

    struct SignIn: Codable {
        var user: String
        var client_id: String?
        /// The raw nonce; the id token has its SHA-256.
        var nonce: String?
        var redirect_uri: String?
        var issued_at_unix_s: Int64?
        var age_s: Int64?
    }

    struct Tokens: Codable {
        var count: Int
        var client_id: String?
        var user_prefix: String?
    }

    struct TokenList: Codable {
        var tokens: [AppleIssuedToken]
    }

    struct Withdrawal: Codable {
        var user: String
        var client_id: String?
        var event: AppleNotification.Event?
    }

    struct GrantList: Codable {
        var grants: [AppleGrant]
    }

    struct Log: Codable {
        var records: [CallRecord]
    }

    struct Clock: Codable {
        var offset_ms: Int64
    }

    struct Time: Codable {
        var now_unix_ms: Int64
    }

    struct Rotation: Codable {
        var withdraw_old: Bool?
    }

    struct Kids: Codable {
        var kids: [String]
    }

    struct FamilyTokens: Codable {
        var tokens: [SandboxToken]
    }

    struct FamilyGrants: Codable {
        var grants: [SandboxGrant]
    }

    struct Clients: Codable {
        var clients: [SandboxClient]
    }

    /// The provider sends no notification.
    struct Nothing: Codable {}

    struct Done: Codable {
        var ok = true
    }

    struct Failure: Codable {
        var error: String
        var detail: String?
    }
}
