/// What the status page is asked for: nothing, or a request.
struct PageQuery {
    /// As it was typed, without the spaces around it.
    private(set) var request: String?

    static let fields: [WireField] = [
        .optional("request", .text, "The id of a request, or how it begins.")
    ]

    /// Reads the text after `?`, as a form sends it.
    init(_ query: Substring) throws(ControlProblem) {
        guard let value = try PathText.pairs(query, of: Self.fields).first?.value else { return }
        let text = value.drop { $0 == " " }
        let end = text.lastIndex { $0 != " " }.map(text.index(after:)) ?? text.startIndex
        request = end == text.startIndex ? nil : String(text[..<end])
    }
}
