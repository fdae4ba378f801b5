/// The body of `suggest`: which table has one row for each user.
package struct SuggestInput: WireInput, Hashable {
    /// `TABLE.COLUMN` or `TABLE`, 1 to 257 bytes.
    package var userTable: String?

    package init(userTable: String? = nil) { self.userTable = userTable }

    package static let members: [WireMember<SuggestInput>] = [
        .optional(
            "user_table",
            \.userTable,
            as: .limited(byteCountMax: ControlLimits.columnByteCountMax),
            "The table and the column of the user id, such as users.id; when absent, as a rule of"
                + " the target or the names of the tables say."
        )
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        userTable = try InputObject(body: body, fields: Self.fields).text("user_table")
    }
}
