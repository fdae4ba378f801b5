import Lifecycle
import Testing

/// What becomes of a submission beside what the user has already.
struct AdmissionTests {
    private static let deletion = RequestID(TimeOrderedID(high: 1, low: 1))
    private static let revocation = RequestID(TimeOrderedID(high: 1, low: 2))
    private static let plain = SubmissionOptions()
    private static let other = SubmissionOptions(reason: "other")

    private static func known(
        _ open: [(RequestID, RequestKind, SubmissionOptions)],
        isErased: Bool = false,
        lacksSignIn: Bool = false
    ) -> Admission.Known {
        var known = Admission.Known()
        known.open = open.map { Admission.OpenRequest(id: $0.0, kind: $0.1, options: $0.2) }
        known.isErased = isErased
        known.lacksSignIn = lacksSignIn
        return known
    }

    private struct Row {
        let known: Admission.Known
        let deletion: Admission
        let revocation: Admission
    }

    private static let deleting = (deletion, RequestKind.deleteAccount, plain)
    private static let revoking = (revocation, RequestKind.revokeTokens, plain)

    /// Each kind, with plain options, beside what is known.
    private static let table = [
        Row(
            known: known([]),
            deletion: .accepted(absorbing: []),
            revocation: .accepted(absorbing: [])
        ),
        Row(
            known: known([revoking]),
            deletion: .accepted(absorbing: [revocation]),
            revocation: .same(revocation)
        ),
        Row(
            known: known([(revocation, .revokeTokens, other)]),
            deletion: .accepted(absorbing: [revocation]),
            revocation: .accepted(absorbing: [])
        ),
        Row(
            known: known([deleting]),
            deletion: .same(deletion),
            revocation: .rejected(.deletionInProgress)
        ),
        Row(
            known: known([(deletion, .deleteAccount, other)]),
            deletion: .rejected(.alreadyOpen),
            revocation: .rejected(.deletionInProgress)
        ),
        Row(
            known: known([revoking, deleting]),
            deletion: .same(deletion),
            revocation: .rejected(.deletionInProgress)
        ),
        Row(
            known: known([], lacksSignIn: true),
            deletion: .rejected(.freshSignInRequired),
            revocation: .accepted(absorbing: [])
        ),
        // A repeated ask finds its request, also when the sign-in is old by then.
        Row(
            known: known([deleting], lacksSignIn: true),
            deletion: .same(deletion),
            revocation: .rejected(.deletionInProgress)
        ),
        Row(
            known: known([deleting], isErased: true, lacksSignIn: true),
            deletion: .rejected(.alreadyErased),
            revocation: .rejected(.alreadyErased)
        ),
    ]

    @Test(arguments: table.indices)
    func `each kind is admitted as the table says`(_ index: Int) {
        let row = Self.table[index]
        #expect(Admission(.deleteAccount, Self.plain, of: row.known) == row.deletion)
        #expect(Admission(.revokeTokens, Self.plain, of: row.known) == row.revocation)
    }
    @Test func `each option has a value of its own kind, within its bounds`() throws {
        var options = SubmissionOptions()
        let text = "2026-11-21T08:00:00Z"
        func read(
            _ name: String,
            of kind: RequestKind = .revokeTokens,
            number: Int64? = nil,
            text: String? = nil,
            list: [String?]? = nil
        ) throws(OptionProblem) {
            try options.read(name, of: kind, number: number, text: text, list: list)
        }
        try read("grace_s", number: 315_360_000)
        try read("providers", list: ["b", "a"])
        try read("reason", text: String(repeating: "a", count: 64))
        try read("account_created_at", text: text)
        #expect(options.graceSeconds == 315_360_000)
        #expect(options.providers == [ProviderName("a"), ProviderName("b")])
        #expect(options.reason?.utf8.count == 64)
        #expect(options.accountCreatedAt == WallTime(rfc3339: text))
        #expect(throws: OptionProblem.self) { try read("grace_s", number: 315_360_001) }
        #expect(throws: OptionProblem.self) { try read("grace_s", number: -1) }
        #expect(throws: OptionProblem.self) { try read("grace_s", text: "60") }
        #expect(throws: OptionProblem.self) { try read("providers", list: []) }
        #expect(throws: OptionProblem.self) { try read("providers", list: ["a", nil]) }
        #expect(throws: OptionProblem.self) { try read("providers", list: ["../a"]) }
        #expect(throws: OptionProblem.self) {
            try read("providers", of: .deleteAccount, list: ["a"])
        }
        #expect(throws: OptionProblem.self) { try read("reason", text: "A b") }
        #expect(throws: OptionProblem.self) { try read("account_created_at", text: "today") }
        #expect(throws: OptionProblem.unknown) { try read("token", text: "a") }
    }

    @Test func `other options have another text`() {
        let a = ProviderName("a")
        let options = [
            SubmissionOptions(), SubmissionOptions(reason: "-"), SubmissionOptions(graceSeconds: 0),
            SubmissionOptions(providers: [ProviderName("-")]), SubmissionOptions(providers: [a]),
            SubmissionOptions(providers: [a, ProviderName("b")]),
            SubmissionOptions(accountCreatedAt: WallTime(unixMilliseconds: 0)),
        ]
        #expect(Set(options.map(\.canonicalText)).count == options.count)
    }
}
