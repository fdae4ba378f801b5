package import Lifecycle

/// Which requests a list shows; every part narrows it.
package struct WireRequestFilter: Sendable, Hashable {
    package var state: RequestState?
    package var user: UserID?
    package var provider: ProviderName?
    /// What the id begins with; see ``RequestID/range(prefix:)``.
    package var idPrefix: String?
    package var cursor: String?
    /// The most items of one page, 1 to ``ControlLimits/listLimitMax``.
    package var limit: Int

    package init(limit: Int = ControlLimits.listLimitDefault) { self.limit = limit }

    package static let fields: [WireField] = [
        .optional("cursor", .uuid, "Where the page before ended."),
        .optional(
            "id_prefix",
            .pattern(idPrefixPattern, byteCountMax: ControlLimits.uuidByteCountMax),
            "Only ids that begin with this text, 4 to 36 characters."
        ),
        .optional(
            "limit",
            .number(1...Int64(ControlLimits.listLimitMax)),
            "Items of one page, 1 to 1000; 100 when absent."
        ),
        .optional("provider", .name, "Only requests with an identity at this provider."),
        .optional("state", .oneOf(all: RequestState.self), "Only this state."),
        .optional("user_id", .userID, "Only this user."),
    ]

    /// What ``RequestID/range(prefix:)`` takes.
    private static let idPrefixPattern: String = {
        let pattern = "(#{4,8}|#{8}-(#{0,4}|#{4}-(#{0,4}|#{4}-(#{0,4}|#{4}-#{0,12}))))"
        return pattern.split(separator: "#", omittingEmptySubsequences: false)
            .joined(separator: "[0-9A-Fa-f]")
    }()

    /// Reads a query, the raw text after `?`, which may be empty.
    package init(query: Substring) throws(ControlProblem) {
        self.init()
        for (name, value) in try PathText.pairs(query, of: Self.fields) {
            guard !value.isEmpty else {
                throw ControlProblem(.malformedQuery, "'\(name)' is empty")
            }
            switch name {
            case "cursor": cursor = value
            case "id_prefix":
                guard RequestID.range(prefix: value) != nil else {
                    throw ControlProblem(
                        .malformedQuery,
                        "'id_prefix' must be the first 4 to 36 characters of an id"
                    )
                }
                idPrefix = value
            case "limit":
                guard let limit = Int(value), (1...ControlLimits.listLimitMax).contains(limit)
                else {
                    throw ControlProblem(.malformedQuery, "'limit' must be 1 to 1000")
                }
                self.limit = limit
            case "provider":
                guard ComponentName.isValid(value) else {
                    throw ControlProblem(.malformedQuery, "'provider' is no name of a provider")
                }
                provider = ProviderName(value)
            case "state":
                guard let state = RequestState(rawValue: value) else {
                    throw ControlProblem(.malformedQuery, "'state' is not a state")
                }
                self.state = state
            default:
                guard let user = UserID(value) else { throw ControlProblem(.malformedUserID) }
                self.user = user
            }
        }
    }

    package var query: String {
        PathText.query([
            "limit": "\(limit)", "cursor": cursor, "id_prefix": idPrefix,
            "provider": provider?.rawValue, "state": state?.rawValue,
            "user_id": user?.exposeText(),
        ])
    }
}
