import Lifecycle
import Testing

/// The checks of what the service paused.
struct ComponentCheckTests {
    enum Event: Sendable {
        /// In the list of pauses; with whether a check begins.
        case listed(begins: Bool)
        case unlisted
        /// The check ends without problems; this host resumes the component.
        case mended
        /// The check ends without problems; another host does the work.
        case mendedElsewhere
        /// The check finds a problem; with whether the next one is due at once.
        case broken(isDueAgain: Bool)
        case restarted
        case reloaded
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// With seconds after the start.
        let events: [(Int64, Event)]

        init(_ description: String, _ events: [(Int64, Event)]) {
            (testDescription, self.events) = (description, events)
        }
    }

    static let cases: [Case] = [
        Case(
            "what is still broken is checked each period",
            [
                (0, .listed(begins: true)), (0, .broken(isDueAgain: false)),
                (14, .listed(begins: false)), (15, .listed(begins: true)),
                (20, .broken(isDueAgain: false)), (34, .listed(begins: false)),
                (35, .listed(begins: true)),
            ]
        ),
        Case(
            "a check under way is not begun again",
            [(0, .listed(begins: true)), (600, .listed(begins: false))]
        ),
        Case(
            "a resume that is not committed yet is no relapse",
            [
                (0, .listed(begins: true)), (0, .mended), (14, .listed(begins: false)),
                (14, .unlisted), (61, .listed(begins: true)), (61, .mended),
                (61, .unlisted), (75, .listed(begins: false)), (90, .listed(begins: false)),
                (91, .listed(begins: true)),
            ]
        ),
        Case(
            "a component that is soon paused again waits twice as long each time",
            [
                (0, .listed(begins: true)), (0, .mended), (15, .listed(begins: false)),
                (29, .listed(begins: false)), (30, .listed(begins: true)), (30, .mended),
                (45, .listed(begins: false)), (89, .listed(begins: false)),
                (90, .listed(begins: true)),
            ]
        ),
        Case(
            "a relapse is one until four pauses have passed",
            [
                (0, .listed(begins: true)), (0, .mended), (59, .unlisted),
                (59, .listed(begins: true)), (59, .mended), (60, .unlisted),
                // The pause is 30 s since the relapse.
                (61, .listed(begins: false)), (119, .listed(begins: true)), (119, .mended),
            ]
        ),
        Case(
            "what lasted for four pauses is checked at once, and its relapses are forgotten",
            [
                (0, .listed(begins: true)), (0, .mended), (0, .unlisted),
                (60, .listed(begins: true)), (60, .mended), (60, .unlisted),
                (61, .listed(begins: false)), (90, .listed(begins: true)),
            ]
        ),
        Case(
            "a host that does not do the work resumes nothing that could relapse",
            [
                (0, .listed(begins: true)), (0, .mendedElsewhere), (15, .listed(begins: true)),
                (15, .mendedElsewhere), (30, .listed(begins: true)),
            ]
        ),
        Case(
            "a reload during a check has what it did not mend checked at once",
            [
                (0, .listed(begins: true)), (1, .reloaded), (2, .broken(isDueAgain: true)),
                (2, .listed(begins: true)), (3, .broken(isDueAgain: false)),
                (4, .listed(begins: false)),
            ]
        ),
        Case(
            "a reload and a jump of the clock make it due at once, without relapses",
            [
                (0, .listed(begins: true)), (0, .mended), (15, .listed(begins: false)),
                (16, .reloaded), (16, .listed(begins: true)), (16, .mended),
                (16, .restarted), (17, .listed(begins: true)), (17, .broken(isDueAgain: false)),
                (32, .listed(begins: true)),
            ]
        ),
        Case(
            "after the clock was set back it does not wait until then",
            [
                (5000, .listed(begins: true)), (5000, .broken(isDueAgain: false)),
                (4055, .listed(begins: false)), (4054, .listed(begins: true)),
            ]
        ),
    ]

    @Test("each check begins when it is due", arguments: cases)
    func begins(_ example: Case) {
        var check = ComponentCheck()
        for (second, event) in example.events {
            let now = Sample.start + .seconds(second)
            let expected: Bool? =
                switch event {
                case .listed(let begins): begins
                case .broken(let isDueAgain): isDueAgain
                case .mended, .mendedElsewhere: false
                case .unlisted, .restarted, .reloaded: nil
                }
            let result = Self.apply(event, to: &check, at: now)
            #expect(result == expected, "\(event) at \(second)")
        }
    }

    private static func apply(
        _ event: Event,
        to check: inout ComponentCheck,
        at now: WallTime
    ) -> Bool? {
        switch event {
        case .listed: return check.begin(at: now)
        case .mended: return check.end([], mayResume: true, at: now)
        case .mendedElsewhere: return check.end([], mayResume: false, at: now)
        case .broken: return check.end(["no such file"], mayResume: true, at: now)
        case .unlisted: check.unlist()
        case .restarted: check.restart()
        case .reloaded: check.reload()
        }
        return nil
    }

    @Test func `a problem is reported once, and forgotten when the pause ends`() {
        var check = ComponentCheck()
        #expect(
            [["a"], ["a"], ["b"], [], ["b"]].map { check.note($0) } == [
                true, false, true, false, true,
            ]
        )
        _ = check.begin(at: Sample.start)
        #expect(check.problems == ["b"])
        check.unlist()
        #expect(check.problems.isEmpty)
    }

    /// A reason, seconds since the clock jumped, and whether a check ends the pause of a provider.
    static let pauses: [(String, Int64?, Bool)] = [
        ("not_set_up", nil, true), ("misconfigured", nil, false), ("operator", nil, false),
        ("misconfigured", 0, true), ("misconfigured", 119, true), ("misconfigured", 120, false),
        ("operator", 0, false), ("not_set_up", 500, true),
    ]

    @Test("a refusal ends with a check only after a jump of the clock", arguments: pauses)
    func provider(_ reason: String, _ since: Int64?, _ expected: Bool) {
        let ends = ComponentCheck.endsPauseOfProvider(
            reason,
            steppedAt: since.map { Sample.start - .seconds($0) },
            now: Sample.start
        )
        #expect(ends == expected)
        #expect(ComponentCheck.endsPauseOfStore(reason) == (reason != "operator"))
    }
}
