import Encoding
import FoundationEssentials

/// The errors of the token endpoint (learn.microsoft.com, "Microsoft Entra authentication and
/// authorization error codes") and of Graph.
extension FamilyRefusal {
    private static let entraErrors: [Int64: (error: String, text: String)] = [
        50_027: ("invalid_client", "JWT token is invalid or malformed."),
        50_059: ("invalid_request", "No tenant-identifying information found."),
        50_173: (
            "invalid_grant",
            "The provided grant has expired due to it being revoked, a fresh auth token is needed."
        ),
        54_005: ("invalid_grant", "OAuth2 Authorization code was already redeemed."),
        65_001: (
            "invalid_grant", "The user or administrator has not consented to use the application."
        ),
        70_000: (
            "invalid_grant",
            """
            The request was denied because one or more scopes requested are unauthorized or \
            expired. The user must first sign in and grant the client application access to them.
            """
        ),
        70_003: ("unsupported_grant_type", "The app returned an unsupported grant."),
        70_008: ("invalid_grant", "The provided authorization code has expired."),
        70_011: ("invalid_scope", "The provided scope is not valid."),
        90_002: ("invalid_request", "Tenant '{}' not found."),
        500_112: ("invalid_grant", "The reply address does not match the one requested."),
        501_481: ("invalid_grant", "The Code_Verifier does not match the challenge."),
        700_005: (
            "invalid_grant", "Provided Authorization Code is intended to use against other tenant."
        ),
        700_016: (
            "unauthorized_client",
            "Application with identifier '{}' was not found in the directory."
        ),
        700_023: ("invalid_client", "Client assertion audience claim is wrong."),
        700_024: ("invalid_client", "Client assertion is not within its valid time range."),
        700_027: (
            "invalid_client",
            """
            The certificate with identifier used to sign the client assertion is not registered \
            on application, or the signature is not valid.
            """
        ),
        700_082: ("invalid_grant", "The refresh token has expired due to inactivity."),
        900_144: (
            "invalid_request", "The request body must contain the following parameter: '{}'."
        ),
        7_000_215: ("invalid_client", "Invalid client secret provided."),
        7_000_218: (
            "invalid_client",
            """
            The request body must contain the following parameter: 'client_assertion' or \
            'client_secret'.
            """
        ),
        9_002_313: ("invalid_grant", "Invalid request. Request is malformed or invalid."),
    ]

    /// The error of an AADSTS number; 400, or 401 for clients that fail to prove themselves.
    static func entra(_ number: Int64, _ detail: String = "") -> FamilyRefusal {
        let (error, text) = entraErrors[number] ?? ("invalid_request", "")
        let status = error == "invalid_client" ? 401 : 400
        let trace = UUID().uuidString.lowercased()
        let shown = text.replacing("{}", with: detail)
        let body: JSONValue = [
            "error": .string(error),
            "error_description": .string("AADSTS\(number): \(shown) Trace ID: \(trace)"),
            "error_codes": [.integer(number)],
            "timestamp": "2026-01-01 00:00:00Z", "trace_id": .string(trace),
            "correlation_id": .string(trace),
            "error_uri": .string("https://login.microsoftonline.com/error?code=\(number)"),
        ]
        return FamilyRefusal("\(error) \(number)", .json(body, status: status))
    }

    private static func microsoftGraph(
        _ status: Int,
        _ code: String,
        _ message: String
    ) -> FamilyRefusal {
        let body: JSONValue = [
            "error": [
                "code": .string(code), "message": .string(message),
                "innerError": ["request-id": .string(UUID().uuidString.lowercased())],
            ]
        ]
        return FamilyRefusal(code, .json(body, status: status))
    }

    static let graphUnauthorized = microsoftGraph(
        401,
        "InvalidAuthenticationToken",
        "Access token is empty, expired or unknown."
    )
    static let graphForbidden = microsoftGraph(
        403,
        "Authorization_RequestDenied",
        "Insufficient privileges to complete the operation."
    )
    static let graphNotFound = microsoftGraph(
        404,
        "Request_ResourceNotFound",
        "Resource does not exist or one of its queried reference-property objects are not present."
    )
    static let graphBadFilter = microsoftGraph(
        400,
        "Request_UnsupportedQuery",
        "Unsupported or invalid query filter clause specified."
    )
}
