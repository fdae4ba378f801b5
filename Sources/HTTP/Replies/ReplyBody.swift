package import Encoding

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

    /// The body as JSON; `nil` for anything else.
    package var json: JSONValue? {
        if case .json(let json) = self { json } else { nil }
    }

    /// The tokens of a success; a body that also speaks of an error has none.
    package var grant: TokenGrant? {
        guard let json, json["error"] == nil else { return nil }
        return TokenGrant(json)
    }

    /// Whether the body has the shape.
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
