package import Encoding

/// A problem as it travels; RFC 9457 with `code` and `errors`.
package struct WireProblem: WireObject, Codable, Hashable {
    package var type: String
    package var title: String
    package var status: Int
    package var detail: String
    package var code: WireValue<ControlProblem.Code>
    package var errors: [ControlProblem.Detail]?

    package init(_ problem: ControlProblem) {
        type = "urn:expunged:problem:\(problem.code.rawValue)"
        title = problem.code.title
        status = problem.code.status
        detail = problem.detail
        code = .known(problem.code)
        errors = problem.errors.isEmpty ? nil : problem.errors
    }

    package static let fields: [WireField] = [
        .required("type", .text, "`urn:expunged:problem:` and the code."),
        .required("title", .text, "The same sentence for every problem of this code."),
        .required("status", .integer, "The HTTP status."),
        .required("detail", .text, "What happened this time; never a value that was sent."),
        .required("code", .choice(of: ControlProblem.Code.self), "Stable."),
        .optional("errors", .list(.object("ProblemDetail")), "More than one fact."),
    ]
}

extension ControlProblem.Detail: WireObject {
    package static let schemaName = "ProblemDetail"

    package static let fields: [WireField] = [
        .optional("field", .text, "A field, or a place in the configuration."),
        .required("message", .text, "What is wrong there."),
    ]
}

extension WireProblem {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("type", type)
            writer.member("title", title)
            writer.member("status", status)
            writer.member("detail", detail)
            writer.member("code", code.description)
            writer.member("errors", errors) { writer, error in
                writer.object { writer in
                    writer.member("field", error.field)
                    writer.member("message", error.message)
                }
            }
        }
    }
}
