import Encoding
import Lifecycle

/// A text with placeholders, such as `/v1/users/{user_id}`.
struct HTTPTemplate: Hashable, Sendable {
    /// What stands for a text that a call brings.
    enum Name: Hashable, Sendable {
        case user
        /// One of the ids that an earlier step has found.
        case id
        case cursor
        case page
        /// The same for every try of one order.
        case request
        /// One of the store's `values`.
        case constant(String)
    }

    enum Piece: Hashable, Sendable {
        case text(String)
        case name(Name)
    }

    /// Where a filled text goes.
    enum Place {
        case path
        /// A value of a query or form, or a string of JSON.
        case field
    }

    let description: String
    let pieces: [Piece]

    init(_ text: String) {
        description = text
        var pieces: [Piece] = []
        var rest = text[...]
        var literal = ""
        while let open = rest.firstIndex(of: "{") {
            literal += rest[..<open]
            rest = rest[open...]
            guard let close = rest.firstIndex(of: "}"),
                let name = Name(rest[rest.index(after: open)..<close])
            else {
                literal.append(rest.removeFirst())
                continue
            }
            if !literal.isEmpty { pieces.append(.text(literal)) }
            literal = ""
            pieces.append(.name(name))
            rest = rest[rest.index(after: close)...]
        }
        literal += rest
        if !literal.isEmpty { pieces.append(.text(literal)) }
        self.pieces = pieces
    }

    var names: [Name] {
        pieces.compactMap { if case .name(let name) = $0 { name } else { nil } }
    }

    /// The placeholder that is all of the text.
    var whole: Name? {
        guard pieces.count == 1, case .name(let name) = pieces[0] else { return nil }
        return name
    }

    /// The text of a call.
    ///
    /// A path gets encoded texts; a field gets them as they are, and its writer encodes them. A
    /// text that could change what is around it, or mean another user there, is refused.
    func fill(_ values: HTTPValues, _ place: Place) throws(HTTPFailure) -> String {
        var filled = ""
        for (index, piece) in pieces.enumerated() {
            switch piece {
            case .text(let text): filled += text
            case .name(let name):
                guard let text = values[name] else { throw .noValue }
                guard isSafe(text, name, at: index, place) else { throw .ambiguousID }
                filled += place == .path ? PercentEncoding.encode(text) : text
            }
        }
        guard place == .path else { return filled }
        let parts = filled.split(separator: "/", omittingEmptySubsequences: false)
        guard !parts.contains("."), !parts.contains("..") else { throw .ambiguousID }
        return filled
    }

    private func isSafe(_ text: String, _ name: Name, at index: Int, _ place: Place) -> Bool {
        switch name {
        case .user, .id: break
        // Numbers, and what this program or the operator has written.
        case .page, .request, .constant: return true
        case .cursor: return place == .field && whole != nil
        }
        switch place {
        case .path: return IDRule.path.accepts(text)
        case .field:
            // The whole of a value is data to whoever reads it; a part of one is in a language of
            // the server's own.
            if whole != nil { return true }
            return isQuoted(index) ? IDRule.quoted.accepts(text) : IDRule.bare.accepts(text)
        }
    }

    private func isQuoted(_ index: Int) -> Bool {
        guard index > 0, index + 1 < pieces.count, case .text(let before) = pieces[index - 1],
            case .text(let after) = pieces[index + 1], let quote = before.last
        else { return false }
        return ["\"", "'", "`"].contains(quote) && after.first == quote
    }
}

extension HTTPTemplate.Name {
    fileprivate init?(_ text: Substring) {
        switch text {
        case "user_id": self = .user
        case "id": self = .id
        case "cursor": self = .cursor
        case "page": self = .page
        case "request_id": self = .request
        default:
            guard let first = text.utf8.first, (0x61...0x7a).contains(first),
                text.utf8.allSatisfy({
                    (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f
                })
            else { return nil }
            self = .constant(String(text))
        }
    }
}

/// Which ids can stand where they are not the whole of a value.
private enum IDRule {
    /// In a path: servers and proxies decode `%2F`, `%5C` and `%25` too early, cut at `?` and `#`,
    /// and fold letters of other widths into those.
    case path
    /// Between quotes, in a language of the server's own.
    case quoted
    case bare

    func accepts(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                ? acceptsASCII(UInt8(truncatingIfNeeded: scalar.value)) : acceptsOther(scalar)
        }
    }

    private func acceptsASCII(_ byte: UInt8) -> Bool {
        guard !PercentEncoding.isUnreserved(byte) else { return true }
        return switch self {
        case .path: byte > 0x20 && byte < 0x7f && !"/\\%?#;".utf8.contains(byte)
        case .quoted: byte >= 0x20 && byte < 0x7f && !"\"'`\\%*?$".utf8.contains(byte)
        case .bare: byte == UInt8(ascii: "@")
        }
    }

    private func acceptsOther(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber:
            true
        default: false
        }
    }
}

/// What the placeholders of one call stand for.
struct HTTPValues: Sendable {
    var user: String
    /// ``HTTPTemplate/Name/request``.
    var request: String
    var constants: [String: String]
    var id: String?
    var cursor: String?
    var page: Int?

    subscript(name: HTTPTemplate.Name) -> String? {
        switch name {
        case .user: user
        case .id: id
        case .cursor: cursor
        case .page: page.map { String($0) }
        case .request: request
        case .constant(let name): constants[name]
        }
    }
}

/// A place in a JSON value (RFC 6901); in a list, `-` is the last element.
struct JSONPointer: Hashable, Sendable {
    static let byteCountMax = 200

    private let steps: [String]

    /// Reads `` or `/a/0/b`, with `~0` for `~` and `~1` for `/`; `nil` for anything else.
    init?(_ text: String) {
        guard text.isEmpty || text.hasPrefix("/"), text.utf8.count <= Self.byteCountMax else {
            return nil
        }
        var steps: [String] = []
        for part in text.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let escapes = part.split(separator: "~", omittingEmptySubsequences: false).dropFirst()
            guard escapes.allSatisfy({ $0.hasPrefix("0") || $0.hasPrefix("1") }) else { return nil }
            steps.append(String(part).replacing("~1", with: "/").replacing("~0", with: "~"))
        }
        self.steps = steps
    }

    /// The value there; `nil` where there is none.
    func value(in json: JSONValue) -> JSONValue? {
        var value = json
        for step in steps {
            let next: JSONValue? =
                switch value {
                case .object(let members): members[step]
                case .array(let items):
                    if step == "-" {
                        items.last
                    } else {
                        Int(step).flatMap { items.indices.contains($0) ? items[$0] : nil }
                    }
                case .null, .bool, .integer, .number, .string: nil
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }
}

extension JSONValue {
    /// A text, a whole number or a truth value, as text; `nil` for anything else.
    var plainText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .bool(let value): value ? "true" : "false"
        case .null, .number, .array, .object: nil
        }
    }
}
