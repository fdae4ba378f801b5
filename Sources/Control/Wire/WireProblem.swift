/// A problem as it travels; RFC 9457 with `code` and `errors`.
package struct WireProblem: WireRecord, Codable, Hashable {
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

    package static let members: [WireMember<WireProblem>] = [
        .required("type", \.type, "`urn:expunged:problem:` and the code."),
        .required("title", \.title, "The same sentence for every problem of this code."),
        .required("status", \.status, "The HTTP status."),
        .required("detail", \.detail, "What happened this time; never a value that was sent."),
        .required("code", \.code, "Stable."),
        .optional("errors", \.errors, "More than one fact."),
    ]
}

extension ControlProblem.Detail: WireRecord {
    package static let schemaName = "ProblemDetail"

    package static let members: [WireMember<ControlProblem.Detail>] = [
        .optional("field", \.field, "A field, or a place in the configuration."),
        .required("message", \.message, "What is wrong there."),
    ]
}
