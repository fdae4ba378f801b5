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

    package static let members: [WireMember<WireProblem>] = [
        .field("type", \.type, "`urn:expunged:problem:` and the code."),
        .field("title", \.title, "The same sentence for every problem of this code."),
        .field("status", \.status, "The HTTP status."),
        .field("detail", \.detail, "What happened this time; never a value that was sent."),
        .field("code", \.code, "Stable."),
        .field("errors", \.errors, "More than one fact."),
    ]
}

extension ControlProblem.Detail: WireObject {
    package static let schemaName = "ProblemDetail"

    package static let members: [WireMember<ControlProblem.Detail>] = [
        .field("field", \.field, "A field, or a place in the configuration."),
        .field("message", \.message, "What is wrong there."),
    ]
}
