package import Encoding

/// The shapes of a body that a table can ask for.
///
/// Every shape but ``empty``, ``noPage`` and ``anything`` needs JSON with a JSON content type.
package indirect enum ReplyShape: Sendable {
    /// Nothing but white space.
    case empty
    /// A JSON object with an access token (RFC 6749 §5.1) and no `error`.
    case tokens
    /// A JSON object with one of these texts as `error` (RFC 6749 §5.2).
    case error(Set<String>)
    /// JSON whose member at the path passes the test.
    ///
    /// Names and indices are separated by dots, as in `error.code` or `errors.0.code`; the empty
    /// path is the body itself.
    case member(String, MemberTest)
    /// Both of them.
    case both(ReplyShape, ReplyShape)
    /// A JSON object without `error`.
    case object
    /// Anything that is not a page: no HTML and no XML.
    case noPage
    case anything
}

/// What a table can ask of one member of a JSON body.
package enum MemberTest: Sendable {
    case isTrue
    case isFalse
    /// A text, one of these.
    case text(Set<String>)
    /// A text that begins with one of these.
    case prefix([String])
    case isNull
    /// A number, one of these.
    case number(Set<Int>)
    /// Any value, `null` included.
    case isPresent
    case isAbsent

    /// Whether the member, `nil` when it is not there, passes.
    package func accepts(_ value: JSONValue?) -> Bool {
        switch (self, value) {
        case (.isTrue, .bool(true)), (.isFalse, .bool(false)): true
        case (.text(let texts), .string(let text)): texts.contains(text)
        case (.prefix(let starts), .string(let text)): starts.contains { text.hasPrefix($0) }
        case (.isNull, .null): true
        case (.number(let numbers), .some(let value)):
            value.number.flatMap { Int(exactly: $0) }.map(numbers.contains) ?? false
        case (.isPresent, .some), (.isAbsent, .none): true
        default: false
        }
    }
}
