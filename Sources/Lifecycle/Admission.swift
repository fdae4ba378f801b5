/// Options of a request, as the application gave them; the spool's `options`.
package struct SubmissionOptions: Hashable, Sendable {
    /// Seconds; may only lengthen the configured grace period.
    package var graceSeconds: Int?
    /// `revoke_tokens` only: the providers to revoke at; `nil` means all.
    package var providers: Set<ProviderName>?
    /// A code of the application's own, never free text.
    package var reason: String?
    package var accountCreatedAt: WallTime?

    package init(
        graceSeconds: Int? = nil,
        providers: Set<ProviderName>? = nil,
        reason: String? = nil,
        accountCreatedAt: WallTime? = nil
    ) {
        (self.graceSeconds, self.providers) = (graceSeconds, providers)
        (self.reason, self.accountCreatedAt) = (reason, accountCreatedAt)
    }

    /// Seconds that `grace_s` may ask for: up to ten years.
    package static let graceSecondsRange: ClosedRange<Int64> = 0...315_360_000
    /// How many providers one request may name.
    package static let providerCounts = 1...64
    /// The longest `reason`, in bytes: it is a code.
    package static let reasonByteCountMax = 64

    /// Reads one option, of which `number`, `text` and `list` are what its JSON value can be.
    package mutating func read(
        _ name: String,
        of kind: RequestKind,
        number: Int64?,
        text: String?,
        list: [String?]?
    ) throws(OptionProblem) {
        switch name {
        case "grace_s":
            guard let number, Self.graceSecondsRange.contains(number) else {
                throw .malformed("must be whole seconds from 0 to ten years")
            }
            graceSeconds = Int(number)
        case "providers":
            guard kind == .revokeTokens else { throw .malformed("belongs to revoke_tokens only") }
            let items = list ?? []
            let names = items.compactMap { $0 }.filter(ComponentName.isValid)
            guard Self.providerCounts.contains(items.count), names.count == items.count else {
                throw .malformed("must be a list of names")
            }
            providers = Set(names.map { ProviderName($0) })
        case "reason":
            guard let text, (1...Self.reasonByteCountMax).contains(text.utf8.count),
                text.utf8.allSatisfy(ComponentName.isCodeByte)
            else { throw .malformed("must be a code of 1 to 64 of a-z, 0-9, _ and -") }
            reason = text
        case "account_created_at":
            guard let time = text.flatMap({ WallTime(rfc3339: $0) }) else {
                throw .malformed("must be an RFC 3339 time")
            }
            accountCreatedAt = time
        default: throw .unknown
        }
    }

    /// One text for equal options, for their fingerprint.
    package var canonicalText: String {
        let values: [String?] = [
            graceSeconds.map { String($0) },
            providers?.map(\.rawValue).sorted().joined(separator: ","), reason,
            accountCreatedAt.map { String($0.unixMilliseconds) },
        ]
        // A name or a code may be a hyphen.
        return values.map { $0.map { "=" + $0 } ?? "-" }.joined(separator: "\n")
    }
}

/// Why an option of a request is refused.
package enum OptionProblem: Error, Hashable {
    case unknown
    /// With what its value must be.
    case malformed(String)
}

/// What becomes of a submission that was not seen before.
package enum Admission: Hashable, Sendable {
    /// A new request; those in `absorbing` end with it, since it does their work as well.
    case accepted(absorbing: [RequestID])
    /// The open request asks for the same.
    case same(RequestID)
    case rejected(RejectReason)

    /// A request of the same user that is open.
    package struct OpenRequest: Hashable, Sendable {
        package let id: RequestID
        package let kind: RequestKind
        package let options: SubmissionOptions

        package init(id: RequestID, kind: RequestKind, options: SubmissionOptions) {
            (self.id, self.kind, self.options) = (id, kind, options)
        }
    }

    /// What the state knows of the user.
    package struct Known: Hashable, Sendable {
        package var open: [OpenRequest] = []
        /// The account that is meant was erased; what has its id now is a later one.
        package var isErased = false
        /// A deletion needs a recent sign-in, and there is none.
        package var lacksSignIn = false

        package init() {}
    }

    /// A repeated ask finds its request before it is asked for a sign-in again.
    package init(_ kind: RequestKind, _ options: SubmissionOptions, of known: Known) {
        self = Self.beside(known, kind, options) ?? Self.new(kind, known)
    }

    /// `nil`: nothing stands in its way.
    private static func beside(
        _ known: Known,
        _ kind: RequestKind,
        _ options: SubmissionOptions
    ) -> Admission? {
        guard !known.isErased else { return .rejected(.alreadyErased) }
        let deletion = known.open.first { $0.kind == .deleteAccount }
        switch (kind, deletion) {
        case (.deleteAccount, let deletion?):
            return deletion.options == options ? .same(deletion.id) : .rejected(.alreadyOpen)
        case (.revokeTokens, .some): return .rejected(.deletionInProgress)
        case (.revokeTokens, nil):
            return known.open.first { $0.options == options }.map { .same($0.id) }
        case (.deleteAccount, nil): return nil
        }
    }

    private static func new(_ kind: RequestKind, _ known: Known) -> Admission {
        switch kind {
        case .revokeTokens: .accepted(absorbing: [])
        case .deleteAccount:
            known.lacksSignIn
                ? .rejected(.freshSignInRequired) : .accepted(absorbing: known.open.map(\.id))
        }
    }
}
