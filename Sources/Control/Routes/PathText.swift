import Encoding

/// Text inside a path or a query (RFC 3986).
package enum PathText {
    /// Decodes one segment or query part; `nil` for a broken escape, a character that RFC 3986 §3.3
    /// does not allow, or bytes that are not UTF-8.
    package static func decode(_ text: Substring) -> String? {
        // `pchar` without `+`, which some read as a space.
        PercentEncoding.decode(text.utf8) {
            PercentEncoding.isUnreserved($0) || "!$'()*,;:@".utf8.contains($0)
        }
    }

    /// The decoded parts of a raw query, which may be empty; `fields` are known, each once.
    static func pairs(
        _ query: Substring,
        of fields: [WireField]
    ) throws(ControlProblem) -> [(name: String, value: String)] {
        guard !query.isEmpty else { return [] }
        var pairs: [(name: String, value: String)] = []
        for part in query.split(separator: "&", omittingEmptySubsequences: false) {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let field = fields.first(where: { $0.name == halves[0] }) else {
                throw ControlProblem(.malformedQuery, "the query has a part that is not known")
            }
            // As forms are encoded (https://url.spec.whatwg.org/#urlencoded-parsing).
            let text = halves.last?.replacing("+", with: "%20") ?? ""
            guard halves.count == 2, let value = decode(text),
                value.utf8.count <= ControlLimits.textByteCountMax
            else { throw ControlProblem(.malformedQuery, "'\(field.name)' cannot be read") }
            guard !pairs.contains(where: { $0.name == field.name }) else {
                throw ControlProblem(.malformedQuery, "'\(field.name)' occurs twice")
            }
            pairs.append((field.name, value))
        }
        return pairs
    }

    /// A query of the parts that have a value.
    static func query(_ parts: KeyValuePairs<String, String?>) -> String {
        parts.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }
            .joined(separator: "&")
    }
}
