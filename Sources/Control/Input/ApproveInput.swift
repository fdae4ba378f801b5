import Encoding

/// The body of `approve`: which plan.
package struct ApproveInput: WireInput, Hashable {
    /// The `hash` of the plan that was read.
    package var plan: String

    package init(plan: String) { self.plan = plan }

    package static let fields: [WireField] = [
        .required("plan", .text, "The hash of the plan that is approved.")
    ]

    /// Reads a body.
    ///
    /// - Parameter body: The bytes of the body.
    /// - Throws: ``ControlProblem`` that names the first field at fault.
    package init(body: [UInt8]) throws(ControlProblem) {
        let object = try InputObject(body: body, fields: Self.fields)
        guard let plan = try object.text("plan") else {
            throw ControlProblem(
                .missingField,
                "'plan' is missing",
                errors: [.init(field: "plan", message: "is missing")]
            )
        }
        self.plan = plan
    }

    /// The body that ``init(body:)`` reads.
    package var body: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in writer.member("plan", plan) }
        return writer.bytes
    }
}
