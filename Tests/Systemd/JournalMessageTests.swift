import Lifecycle
import Logging
import Testing

@testable import Systemd

@Suite("Journal messages")
struct JournalMessageTests {
    private static let id = "01a1fc8e-9f65-7bd1-bb0b-9b525af3dac8"
    /// A value of every field, as long as they usually get.
    private static let facts: Logger.Metadata = [
        "request.id": "\(id)", "provider": "apple", "store": "app-db", "subscriber": "app",
        "step": "hold_user", "state": "completed", "verdict": "proven", "attempt": "3",
        "count": "12", "duration_ms": "64000", "operator.uid": "1000",
        "peer.uid": "1000", "error": "unknown_vault_key", "detail": "needs_reauthentication",
    ]

    private static func message(_ event: JournalEvent, _ facts: Logger.Metadata) -> String {
        let facts = facts.merging(["event": "\(event.rawValue)"]) { $1 }
        return LogEntry(level: .info, message: "", metadata: facts).message
    }

    @Test("every event is a sentence of its facts", arguments: JournalEvent.allCases)
    func sentence(_ event: JournalEvent) {
        #expect(Set(Self.facts.keys) == Set(JournalField.allCases.map(\.rawValue)))
        let text = Self.message(event, Self.facts)
        #expect(!text.contains { "{}[]?".contains($0) }, "\(text)")
        #expect(text.count > 10 && text.count <= 200 && !text.hasSuffix("."), "\(text)")
        #expect(text.first?.isLowercase == true, "\(text)")
    }

    @Test("a template names fields of the closed list alone", arguments: JournalEvent.allCases)
    func fields(_ event: JournalEvent) {
        for match in event.template.matches(of: /\{([a-z_.]+)(?: [a-z ]+)?\}/) {
            #expect(JournalField(rawValue: String(match.1)) != nil, "\(match.0)")
        }
        let marks = event.template.replacing(/\{[a-z_. ]+\}/, with: "")
        #expect(!marks.contains { "{}".contains($0) })
        #expect(marks.count { $0 == "[" } == marks.count { $0 == "]" })
    }

    @Test("names and templates are distinct")
    func distinct() {
        let events = JournalEvent.allCases
        #expect(Set(events.map(\.name)).count == events.count)
        #expect(Set(events.map(\.template)).count == events.count)
        #expect(JournalEvent.spoolInWAL.name == "spool_in_wal")
        #expect(JournalEvent.dataReturned.name == "data_returned")
    }

    @Test(
        "says what happened, to what, and why",
        arguments: [
            (
                .revocationVerdict,
                ["provider": "apple", "request.id": "\(id)", "verdict": "proven", "attempt": "3"],
                "apple identity of request 01a1fc8e-9f65-7bd1: revoked and proven (3 calls)"
            ),
            (
                .revocationVerdict,
                ["provider": "phone", "request.id": "\(id)", "verdict": "nothing_to_revoke"],
                "phone identity of request 01a1fc8e-9f65-7bd1: nothing to revoke"
            ),
            (
                .notRevoked,
                ["provider": "apple", "request.id": "\(id)", "error": "seal_broken"],
                "apple identity of request 01a1fc8e-9f65-7bd1 not revoked: the seal is broken"
            ),
            (
                .spoolUnreadableRows, ["count": "1"], "spool has 1 unreadable row"
            ),
            (
                .unreadSources, ["count": "2", "detail": "queue app, spool"],
                "cannot read queue app, spool: 2 requests no longer waiting for it"
            ),
            (
                .operatorAction, ["operator.uid": "7", "step": "hold_user"],
                "operator action of uid 7: hold user"
            ),
            (
                .operatorAction, ["peer.uid": "7", "step": "cancel"],
                "action of application uid 7: cancel"
            ),
            (
                .outageBegan, ["provider": "line", "error": ""],
                "users of provider line are not served"
            ),
            (
                .outageEnded, ["provider": "line"],
                "outage at provider line ended"
            ),
            (
                .outageEnded, ["provider": "line", "detail": "app"],
                "outage of 'app' at provider line ended"
            ),
            (
                .spoolQuarantined, ["error": "refused"],
                "spool cannot be used: its file or journal is unsafe"
            ),
            (
                .providerPaused, ["provider": "google", "error": "invalid_client: no such_key"],
                "provider google paused: invalid_client: no such_key"
            ),
            (
                .componentUnfit, ["store": "files", "error": "no 'a_b' [{x}]"],
                "store files cannot be used: no 'a_b' [{x}]"
            ),
            (
                .requestParked,
                ["request.id": "\(id)", "detail": "unknown_provider", "provider": "github"],
                "request 01a1fc8e-9f65-7bd1 waits: the configuration lacks a provider: github"
            ),
            (
                .requestParked,
                [
                    "request.id": "\(id)", "detail": "needs_reauthentication",
                    "provider": "google", "error": "400 invalid_grant",
                ],
                "request 01a1fc8e-9f65-7bd1 waits: the user must sign in again: google answered"
                    + " 400 invalid_grant"
            ),
            (.requestCompleted, [:], "request ? completed"),
        ] as [(JournalEvent, Logger.Metadata, String)]
    )
    func message(_ event: JournalEvent, _ facts: Logger.Metadata, _ text: String) {
        #expect(Self.message(event, facts) == text)
    }
}
