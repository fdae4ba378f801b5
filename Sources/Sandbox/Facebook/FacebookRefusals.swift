import Encoding

/// Graph's errors: 400, whatever they are about (developers.facebook.com, "Handling errors").
extension FamilyRefusal {
    static func graph(
        _ code: Int64,
        subcode: Int64? = nil,
        _ message: String,
        type: String = "OAuthException"
    ) -> FamilyRefusal {
        let body: JSONValue = [
            "error": [
                "message": .string(message), "type": .string(type), "code": .integer(code),
                "error_subcode": subcode.map { .integer($0) },
                "fbtrace_id": .string(String(TokenGenerator.text().prefix(23))),
            ]
        ]
        let name = subcode.map { "\(code)/\($0)" } ?? "\(code)"
        return FamilyRefusal(name, .json(body, status: 400))
    }

    /// The user removed the app, or never had it.
    static func notInstalled(_ clientID: String) -> FamilyRefusal {
        graph(
            190,
            subcode: 458,
            "Error validating access token: The user has not authorized application \(clientID)."
        )
    }

    /// The object is unknown to this app: ids are app-scoped.
    static let noObject = graph(
        100,
        subcode: 33,
        "Unsupported request. The object does not exist, cannot be loaded due to missing "
            + "permissions, or does not support this operation.",
        type: "GraphMethodException"
    )
}
