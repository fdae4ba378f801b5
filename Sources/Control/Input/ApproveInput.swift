/// The body of `approve`: which plan.
package struct ApproveInput: WireInput, Hashable {
    package var plan: String

    package init(plan: String) { self.plan = plan }

    package static let members: [WireMember<ApproveInput>] = [
        .required("plan", \.plan, as: .line, "The hash of the plan that is approved.")
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        plan = try InputObject(body: body, fields: Self.fields).requiredText("plan")
    }
}
