import Encoding

/// What an operator can do to one provider or store.
package enum ComponentAction: String, Sendable, CaseIterable {
    /// Ask it now whether it works: credentials, endpoints, or the live schema.
    case check
    /// Start no new work there.
    case pause
    case resume

    package var providerOperation: Operation {
        switch self {
        case .check: .checkProvider
        case .pause: .pauseProvider
        case .resume: .resumeProvider
        }
    }

    package var storeOperation: Operation {
        switch self {
        case .check: .checkStore
        case .pause: .pauseStore
        case .resume: .resumeStore
        }
    }
}

/// The body of `suggest`: which table has one row for each user.
package struct SuggestInput: WireInput, Hashable {
    /// `TABLE.COLUMN` or `TABLE`, 1 to 257 bytes.
    package var userTable: String?

    package init(userTable: String? = nil) { self.userTable = userTable }

    package static let members: [WireMember<SuggestInput>] = [
        .field(
            "user_table",
            \.userTable,
            as: .limited(byteCountMax: ControlLimits.columnByteCountMax),
            "The table and the column of the user id, such as users.id; when absent, as a rule of"
                + " the store or the names of the tables say."
        )
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        userTable = try InputObject(body: body, fields: Self.fields).text("user_table")
    }
}

/// The body of an override of the mass-deletion guard: for how many deletions.
package struct OverrideInput: WireInput, Hashable {
    package var count: Int?

    package init(count: Int? = nil) { self.count = count }

    package static let members: [WireMember<OverrideInput>] = [
        .field(
            "count",
            \.count,
            as: .number(1...ControlLimits.overrideMax),
            "So many deletions may begin beyond the limit, 1 to 10000000;"
                + " without it as many as wait."
        )
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        let object = try InputObject(body: body, fields: Self.fields)
        guard let value = object.value("count") else { return }
        guard let number = value.number.flatMap({ Int64(exactly: $0) }),
            (1...ControlLimits.overrideMax).contains(number)
        else { throw object.problem("count", "must be 1 to \(ControlLimits.overrideMax)") }
        count = Int(number)
    }
}
