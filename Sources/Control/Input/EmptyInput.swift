/// The body of a route that takes nothing: no body, or an object without members.
package struct EmptyInput: WireInput {
    package static let fields: [WireField] = []

    /// Reads a body.
    ///
    /// - Parameter body: The bytes of the body; may be empty.
    /// - Throws: ``ControlProblem`` with `unknown_field` when it says anything.
    package init(body: [UInt8]) throws(ControlProblem) {
        _ = try InputObject(body: body, fields: Self.fields)
    }
}
