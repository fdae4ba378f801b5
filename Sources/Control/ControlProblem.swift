/// Why the control API did not do what it was asked; RFC 9457 `application/problem+json`.
///
/// Never carries a value that the caller sent: `field` and `errors` name places only.
package struct ControlProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// One more fact: where, and what is wrong there.
    package struct Detail: Sendable, Hashable, Codable {
        /// A field (`options.grace_s`), a configuration line (`expunged.toml:12`), or nothing.
        package let field: String?
        package let message: String

        package init(field: String? = nil, message: String) {
            (self.field, self.message) = (field, message)
        }
    }

    package let code: Code
    /// One sentence for a person, in lower case, without a full stop.
    package let detail: String
    package let errors: [Detail]
    /// How long to wait before the next try, if known (RFC 9110 §10.2.3).
    package let retryAfter: Duration?

    package init(
        _ code: Code,
        _ detail: String? = nil,
        errors: [Detail] = [],
        retryAfter: Duration? = nil
    ) {
        self.code = code
        self.detail = detail ?? code.title
        (self.errors, self.retryAfter) = (errors, retryAfter)
    }

    init(_ code: Code, field: String, _ message: String) {
        self.init(
            code,
            "'\(field)' \(message)",
            errors: [Detail(field: field, message: message)]
        )
    }

    package var description: String { "\(code.rawValue): \(detail)" }
}

extension ControlProblem {
    /// What a rejected submission or credential is over HTTP; the codes are equal but for one.
    package init(rejection reason: some RawRepresentable<String>) {
        self.init(Code(rawValue: reason.rawValue) ?? .malformedField)
    }
}
