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
}
