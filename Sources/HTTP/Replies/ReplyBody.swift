package import Encoding
package import Lifecycle

/// What a body turned out to be.
package enum ReplyBody: Sendable {
    case empty
    case json(JSONValue)
    /// Markup, whatever its content type says.
    case page
    case other

    /// Looks at the bytes first and at the content type second.
    package init(_ reply: RemoteReply, alsoJSON otherJSON: Set<String> = []) {
        if reply.start == nil {
            self = .empty
        } else if reply.isPage {
            self = .page
        } else if Self.isJSON(reply.contentType, or: otherJSON),
            let json = JSONValue(reply.body)
        {
            self = .json(json)
        } else {
            self = .other
        }
    }

    package var json: JSONValue? {
        if case .json(let json) = self { json } else { nil }
    }

    /// The tokens of a success; a body that also speaks of an error has none.
    package var grant: TokenGrant? {
        guard let json, json["error"] == nil else { return nil }
        return TokenGrant(json)
    }

    package func has(_ shape: ReplyShape) -> Bool {
        switch (shape, self) {
        case (.anything, _), (.empty, .empty): true
        case (.noPage, .page): false
        case (.noPage, _): true
        case (.tokens, .json): grant != nil
        case (.object, .json(.object(let members))): members["error"] == nil
        case (.error(let codes), .json(let json)):
            json["error"]?.string.map(codes.contains) ?? false
        case (.member(let path, let test), .json(let json)): test.accepts(json.member(at: path))
        case (.both(let first, let second), _): has(first) && has(second)
        case (.empty, _), (.tokens, _), (.object, _), (.error, _), (.member, _): false
        }
    }

    /// `application/json` or a type built on it (RFC 6839 §3.1), with any parameters (RFC 9110
    /// §8.3.1).
    private static func isJSON(_ contentType: String?, or others: Set<String>) -> Bool {
        guard let contentType else { return false }
        let type = contentType.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
        return type == "application/json" || others.contains(type)
            || type.hasPrefix("application/") && type.hasSuffix("+json")
    }
}

extension JSONValue {
    /// The value at a path of names and indices with dots between them; the empty path is this one.
    package func member(at path: String) -> JSONValue? {
        var value = self
        for step in path.split(separator: ".") {
            let next: JSONValue? =
                switch value {
                case .object(let members): members[String(step)]
                case .array(let elements):
                    Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
                case .string, .integer, .number, .bool, .null: nil
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }
}

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

/// One JSON object of a program or service of the operator's own, or why there is none.
package enum ObjectReply: Sendable {
    case answer(JSONValue)
    case failure(EffectFailure)
}

extension EffectFailure {
    /// What the member `outcome` means where it is none of an operation's own; the same words for
    /// every program and service of the operator's own.
    package init(ofObject json: JSONValue) {
        self =
            switch json["outcome"]?.string {
            case "unreachable": .unreachable
            case "throttled", "working":
                .throttled(retryAfter: json["retry_after_s"]?.seconds)
            case "misconfigured": .misconfigured
            case "unknown": .lost
            default: .unusable
            }
    }
}

extension JSONValue {
    /// A number of seconds; `nil` for anything else.
    ///
    /// A year bounds nonsense.
    package var seconds: Duration? {
        number.flatMap { (0...31_536_000).contains($0) ? .seconds(Int64($0)) : nil }
    }
}

/// A successful answer of a token endpoint (RFC 6749 §5.1).
package struct TokenGrant: Sendable {
    package let accessToken: Secret
    package let refreshToken: Secret?
    package let lifetime: Duration?
    package let idToken: Secret?

    /// Reads the documented members; `nil` without an access token or with a type that is not
    /// Bearer.
    package init?(_ json: JSONValue) {
        guard let accessToken = json["access_token"]?.string, !accessToken.isEmpty else {
            return nil
        }
        if let type = json["token_type"], type.string?.lowercased() != "bearer" { return nil }
        self.accessToken = Secret(accessToken)
        refreshToken = json["refresh_token"]?.string.flatMap { $0.isEmpty ? nil : Secret($0) }
        idToken = json["id_token"]?.string.map { Secret($0) }
        lifetime = json["expires_in"]?.seconds
    }
}
