import Encoding
package import Lifecycle

/// The query of a list of messages.
package struct MessageQuery: WireObject, Hashable {
    /// Messages in a page.
    package static let pageSize = 100

    /// Only messages before this one.
    package var cursor: MessageID?
    /// Only those that wait for an attempt.
    package var isWaiting = false

    package init(cursor: MessageID? = nil, isWaiting: Bool = false) {
        (self.cursor, self.isWaiting) = (cursor, isWaiting)
    }

    package static let fields: [WireField] = [
        .optional(
            "cursor",
            .pattern("msg_[1-9][0-9]{0,17}_[0-9a-f]{16}", byteCountMax: 4 + 18 + 1 + 16),
            "Where the page before ended."
        ),
        .optional("state", .oneOf(["waiting"]), "Only those that wait for an attempt."),
    ]

    /// Reads a query, the raw text after `?`, which may be empty.
    init(query: Substring) throws(ControlProblem) {
        self.init()
        guard !query.isEmpty else { return }
        for part in query.split(separator: "&", omittingEmptySubsequences: false) {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = halves.count == 2 ? PathText.decode(halves[1]) : nil
            if halves[0] == "cursor", cursor == nil, let id = value.flatMap(MessageID.init) {
                cursor = id
            } else if halves[0] == "state", !isWaiting, value == "waiting" {
                isWaiting = true
            } else {
                throw ControlProblem(
                    .malformedQuery,
                    "a query has 'cursor', the id of a message, and state=waiting, each once"
                )
            }
        }
    }

    package var query: String {
        [cursor.map { "cursor=\($0)" }, isWaiting ? "state=waiting" : nil].compactMap { $0 }
            .joined(separator: "&")
    }
}
