import Lifecycle
import Testing

/// Words that are contracts with the outside.
struct VocabularyTests {
    @Test func `a request has ten states, fourteen park reasons and nine verdicts`() {
        #expect(
            RequestState.allCases.map(\.rawValue) == [
                "submitted", "accepted", "scheduled", "revoking", "purging", "verifying",
                "completed", "rejected", "cancelled", "parked",
            ]
        )
        #expect(
            ParkReason.allCases.map(\.rawValue) == [
                "needs_reauthentication", "provider_paused", "unknown_provider", "store_paused",
                "vault_sealed", "on_hold", "awaiting_approval", "mass_deletion_guard",
                "shared_identity", "quarantined", "awaiting_spool", "awaiting_credentials",
                "clock_behind", "without_keys",
            ]
        )
        #expect(
            Verdict.allCases.map(\.rawValue) == [
                "proven", "accepted", "unconfirmed", "already_gone", "token_dead",
                "nothing_to_revoke",
                "manual", "unrevoked", "abandoned",
            ]
        )
    }

    @Test func `a receipt never says revoked of what was not`() {
        let revoked = Verdict.allCases.filter(\.isRevoked)
        #expect(revoked == [.proven, .accepted, .alreadyGone])
    }

    @Test("phases show as states", arguments: PhaseRow.allCases)
    func state(of row: PhaseRow) throws {
        let phase = try row.machine(.deleteAccount).request.phase
        let expected =
            switch row {
            case .open(let situation): situation.stage.rawValue
            case .parked: "parked"
            case .completed: "completed"
            case .cancelled: "cancelled"
            }
        #expect(phase.state.rawValue == expected)
        #expect(phase.isEnded == (phase.stage == nil))
    }

    @Test func `every failure has a code of its own`() {
        let codes = Set(FailureTests.failures.map(\.code))
        #expect(codes.count == FailureTests.failures.count - 1)
    }

    @Test func `message ids are 128 random bits, each used once`() {
        let ids = JournalEvent.allCases.map(\.messageID)
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
        let messages = JournalEvent.allCases.map(\.template)
        #expect(Set(messages).count == messages.count)
        #expect(messages.allSatisfy { !$0.isEmpty && !$0.contains("\n") })
    }
}
