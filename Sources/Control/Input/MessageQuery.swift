package import Lifecycle

/// The query of a list of messages.
package struct MessageQuery: Sendable, Hashable {
    /// Messages in a page.
    package static let pageSize = 100

    package var cursor: MessageID?
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
        for (name, value) in try PathText.pairs(query, of: Self.fields) {
            if name == "cursor", let id = MessageID(value) {
                cursor = id
            } else if name == "state", value == "waiting" {
                isWaiting = true
            } else {
                throw ControlProblem(
                    .malformedQuery,
                    "'cursor' must be the id of a message, and 'state' must be waiting"
                )
            }
        }
    }

    package var query: String {
        PathText.query(["cursor": cursor?.description, "state": isWaiting ? "waiting" : nil])
    }
}
