import Encoding

/// The body of an override of the mass-deletion guard: for how many deletions.
package struct OverrideInput: WireInput, Hashable {
    package var count: Int?

    package init(count: Int? = nil) { self.count = count }

    package static let members: [WireMember<OverrideInput>] = [
        .optional(
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
