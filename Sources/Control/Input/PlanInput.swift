import Encoding
package import Lifecycle

/// The body of a dry run: whose deletion is planned.
package struct PlanInput: WireInput, Hashable {
    package var user: UserID

    package init(user: UserID) { self.user = user }

    package static let fields: [WireField] = [
        .required("user_id", .text, "The application's user id, 1 to 255 bytes.")
    ]

    /// Reads a body.
    ///
    /// - Parameter body: The bytes of the body.
    /// - Throws: ``ControlProblem`` with `missing_field` or `malformed_user_id`.
    package init(body: [UInt8]) throws(ControlProblem) {
        let object = try InputObject(body: body, fields: Self.fields)
        guard let value = object.value("user_id") else {
            throw ControlProblem(
                .missingField,
                "'user_id' is missing",
                errors: [.init(field: "user_id", message: "is missing")]
            )
        }
        guard let user = value.string.flatMap({ UserID($0) }) else {
            throw ControlProblem(.malformedUserID)
        }
        self.user = user
    }

    /// The body that ``init(body:)`` reads.
    package var body: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in writer.member("user_id", user.exposeText()) }
        return writer.bytes
    }
}
