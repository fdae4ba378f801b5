import Encoding
import FoundationEssentials

/// The errors of the token endpoint (learn.microsoft.com, "Microsoft Entra authentication and
/// authorization error codes") and of Graph.
extension FamilyRefusal {
    /// An error with its AADSTS number; 400, or 401 for clients that fail to prove themselves.
    static func entra(_ error: String, _ number: Int64, _ text: String) -> FamilyRefusal {
        let status = error == "invalid_client" ? 401 : 400
        let trace = UUID().uuidString.lowercased()
        let body: JSONValue = [
            "error": .string(error),
            "error_description": .string("AADSTS\(number): \(text) Trace ID: \(trace)"),
            "error_codes": [.integer(number)],
            "timestamp": "2026-01-01 00:00:00Z", "trace_id": .string(trace),
            "correlation_id": .string(trace),
            "error_uri": .string("https://login.microsoftonline.com/error?code=\(number)"),
        ]
        return FamilyRefusal("\(error) \(number)", .json(body, status: status))
    }

    static let sessionsRevoked = entra(
        "invalid_grant",
        50_173,
        "The provided grant has expired due to it being revoked, a fresh auth token is needed."
    )
    static let inactive = entra(
        "invalid_grant",
        700_082,
        "The refresh token has expired due to inactivity."
    )
    static let consentGone = entra(
        "invalid_grant",
        65_001,
        "The user or administrator has not consented to use the application."
    )
    static let personalConsentGone = entra(
        "invalid_grant",
        70_000,
        "The request was denied because one or more scopes requested are unauthorized or expired. "
            + "The user must first sign in and grant the client application access to them."
    )
    static let malformedToken = entra(
        "invalid_grant",
        9_002_313,
        "Invalid request. Request is malformed or invalid."
    )

    static func microsoftGraph(_ code: String, _ message: String, status: Int) -> FamilyRefusal {
        let body: JSONValue = [
            "error": [
                "code": .string(code), "message": .string(message),
                "innerError": ["request-id": .string(UUID().uuidString.lowercased())],
            ]
        ]
        return FamilyRefusal(code, .json(body, status: status))
    }

    static let graphUnauthorized = microsoftGraph(
        "InvalidAuthenticationToken",
        "Access token is empty, expired or unknown.",
        status: 401
    )
    static let graphForbidden = microsoftGraph(
        "Authorization_RequestDenied",
        "Insufficient privileges to complete the operation.",
        status: 403
    )
    static let graphNotFound = microsoftGraph(
        "Request_ResourceNotFound",
        "Resource does not exist or one of its queried reference-property objects are not present.",
        status: 404
    )
    static let graphBadFilter = microsoftGraph(
        "Request_UnsupportedQuery",
        "Unsupported or invalid query filter clause specified.",
        status: 400
    )
}
