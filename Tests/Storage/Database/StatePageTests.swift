import Engine
import GRDB
import Lifecycle
import Testing

@testable import Storage

/// SQLite moves rows between pages as they grow and leaves copies in the unused space.
struct StatePageTests {
    private static let canary = "canary-user-"

    @Test(
        "nothing of erased users is in unused space of a page, nor comes back to the WAL",
        arguments: [UInt64(1), 2, 3]
    )
    func unusedSpace(seed: UInt64) async throws {
        let fixture = try StateFixture()
        var generator = SeededGenerator(seed: seed)
        var open: [LoadedRequest] = []
        for number in 0..<600 {
            let name = number.isMultiple(of: 3) ? "bystander-" : Self.canary
            open.append(
                try await fixture.open(name + String(repeating: "x", count: 20) + "\(number)")
            )
            let index = Int.random(in: 0..<open.count, using: &generator)
            open[index] = try await Self.parkAgain(open[index], fixture, &generator)
        }
        open.shuffle(using: &generator)
        for loaded in open where loaded.user.exposeText().hasPrefix(Self.canary) {
            try await fixture.save(loaded.request.completed(), was: loaded.request)
        }
        _ = try await fixture.database.scrub()
        #expect(fixture.filesHolding(Self.canary).isEmpty, "seed \(seed)")
        #expect(fixture.filesHolding("bystander-") == ["state.db"])

        // Each page of the requests once more, from wherever SQLite has it.
        try await fixture.execute("UPDATE requests SET crash_count = crash_count + 1")
        #expect(fixture.filesHolding(Self.canary).isEmpty, "seed \(seed)")
        _ = try await fixture.database.scrub()
        #expect(fixture.filesHolding(Self.canary).isEmpty, "seed \(seed)")
        #expect(
            try await fixture.database.read {
                try $0.first("PRAGMA integrity_check") { $0.text() }
            } == "ok"
        )
    }

    /// Writes the row of a request with another length.
    private static func parkAgain(
        _ loaded: LoadedRequest,
        _ fixture: StateFixture,
        _ generator: inout SeededGenerator
    ) async throws -> LoadedRequest {
        var later = loaded
        let reason: ParkReason = Bool.random(using: &generator) ? .onHold : .needsReauthentication
        later.request.phase = .parked(.accepted, reason, until: StateFixture.start)
        try await fixture.save(later.request, was: loaded.request)
        return later
    }
}
