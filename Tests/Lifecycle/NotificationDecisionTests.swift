import Lifecycle
import Testing

/// What is done about a notification, and which effect stands for several.
struct NotificationDecisionTests {
    typealias Decision = NotificationDecision

    private static let deletion = RequestID(TimeOrderedID(high: 7, low: 1))
    private static let open = RequestID(TimeOrderedID(high: 7, low: 2))

    private static func user(
        deletion: RequestID? = nil,
        open: RequestID? = nil,
        raised: Int = 0
    ) -> Decision.Finding {
        .user(Decision.User(openDeletion: deletion, openRequest: open, raised: raised))
    }

    struct Case: Sendable {
        let meaning: NotificationMeaning
        let finding: Decision.Finding
        var policy = NotificationPolicy()
        var canSubmit = true
        let expected: Decision
    }

    private static let report = NotificationPolicy(onAccountDeleted: .report, onLinkCut: .report)

    static let cases: [Case] =
        NotificationMeaning.allCases.flatMap { meaning in
            [
                Case(meaning: meaning, finding: .unknown, expected: .settled(.unknownSubject)),
                Case(meaning: meaning, finding: .shared, expected: .settled(.sharedIdentity)),
                Case(meaning: meaning, finding: .stale, expected: .settled(.stale)),
                Case(meaning: meaning, finding: .echo(open), expected: .settled(.echo, open)),
                Case(
                    meaning: meaning,
                    finding: user(),
                    policy: report,
                    canSubmit: false,
                    expected: .settled(.reported)
                ),
            ]
        }
        + [.accountGone, .accountGoneUndated, .deletionAsked].flatMap { meaning in
            [
                Case(meaning: meaning, finding: user(open: open), expected: .deletion),
                Case(
                    meaning: meaning,
                    finding: user(open: open),
                    canSubmit: false,
                    expected: .settled(.postponed)
                ),
                // What is open needs neither the intake nor a policy.
                Case(
                    meaning: meaning,
                    finding: user(deletion: deletion, raised: 1),
                    policy: report,
                    canSubmit: false,
                    expected: .settled(.deletionOpen, deletion)
                ),
            ]
        } + [
            Case(meaning: .linkCut, finding: user(), expected: .settled(.linkUpdated)),
            Case(
                meaning: .linkCut,
                finding: user(deletion: deletion, open: open),
                canSubmit: false,
                expected: .settled(.linkUpdated, open)
            ),
            Case(
                meaning: .linkCut,
                finding: user(deletion: deletion, raised: 1),
                expected: .settled(.echo, deletion)
            ),
            Case(
                meaning: .linkCutUndated,
                finding: user(deletion: deletion, open: open, raised: 1),
                expected: .settled(.hinted, deletion)
            ),
        ]

    @Test("each finding has one decision", arguments: cases)
    func decides(_ example: Case) {
        let decision = Decision(
            example.meaning,
            of: example.finding,
            policy: example.policy,
            canSubmit: example.canSubmit
        )
        #expect(decision == example.expected)
    }

    @Test(
        "age comes before the configuration",
        arguments: [
            (99, true, Decision.Start.read(NotificationPolicy())),
            (99, false, .settled(.reported)), (100, true, .settled(.stale)),
            (100, false, .settled(.stale)), (-9, true, .read(NotificationPolicy())),
        ]
    )
    func starts(_ age: Int64, _ isConfigured: Bool, _ expected: Decision.Start) {
        let start = Decision.start(
            occurredAt: Sample.start - .seconds(age),
            ageMax: .seconds(100),
            policy: isConfigured ? NotificationPolicy() : nil,
            at: Sample.start
        )
        #expect(start == expected)
    }

    @Test func `what was done stands for what was not, in the order of the effects`() {
        #expect(NotificationEffect.leading([]).effect == .noted)
        let all = NotificationEffect.allCases
        for (index, effect) in all.enumerated() {
            let others = all[index...].reversed().map { (effect: $0, requestID: RequestID?.none) }
            let leading = NotificationEffect.leading(others + [(effect, Self.open)])
            #expect(leading.effect == effect)
            // Of equals, the first.
            #expect(leading.requestID == nil)
        }
        #expect(all.first == .deletionRequested)
        #expect(all.last == .refused)
    }
}
