import Encoding

/// What the status page is asked for: nothing, or a request.
struct PageQuery {
    /// As it was typed, without the spaces around it.
    private(set) var request: String?

    static let fields: [WireField] = [
        .optional("request", .text, "The id of a request, or how it begins.")
    ]

    /// Reads the text after `?`, as a form sends it
    /// (https://url.spec.whatwg.org/#urlencoded-parsing).
    init(_ query: Substring) throws(ControlProblem) {
        guard !query.isEmpty else { return }
        let parts = query.split(separator: "&", omittingEmptySubsequences: false)
        let halves = parts[0].split(
            separator: "=",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        guard parts.count == 1, halves[0] == "request", halves.count == 2,
            let value = PathText.decode(Substring(halves[1].replacing("+", with: "%20")))
        else { throw ControlProblem(.malformedQuery, "the page takes 'request' only, once") }
        let text = value.drop { $0 == " " }
        let end = text.lastIndex { $0 != " " }.map(text.index(after:)) ?? text.startIndex
        request = end == text.startIndex ? nil : String(text[..<end])
    }
}
