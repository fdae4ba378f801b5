import Encoding
package import Lifecycle

/// The body of a dry run: whose deletion is planned.
package struct PlanInput: WireInput, Hashable {
    package var user: UserID

    package init(user: UserID) { self.user = user }

    package static let members: [WireMember<PlanInput>] = [
        .required(
            "user_id",
            { $0.user.exposeText() },
            as: .userID,
            "The application's user id, 1 to 255 bytes."
        )
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        let value = try InputObject(body: body, fields: Self.fields).required("user_id")
        guard let user = value.string.flatMap({ UserID($0) }) else {
            throw ControlProblem(.malformedUserID)
        }
        self.user = user
    }
}
