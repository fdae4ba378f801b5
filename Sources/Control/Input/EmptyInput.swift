/// The body of a route that takes nothing: no body, or an object without members.
package struct EmptyInput: WireInput {
    package static let members: [WireMember<EmptyInput>] = []

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        _ = try InputObject(body: body, fields: Self.fields)
    }
}
