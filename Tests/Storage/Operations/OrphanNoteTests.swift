import Engine
import Lifecycle
import Testing

@testable import Storage

@Suite(.onEachDatabase)
struct OrphanNoteTests {
    private static let name = NoteName.orphans + "app-db:digest"

    @Test func `the lowest count stays`() async throws {
        let fixture = try StateFixture()
        for (count, kept) in [(3, "3"), (5, "3"), (2, "2")] {
            try await fixture.database.lowerNote(Self.name, to: count)
            let note = try await fixture.database.note(Self.name)
            #expect(note == kept)
        }
    }

    @Test func `counts of a state that was replaced are forgotten, and nothing else`()
        async throws
    {
        let fixture = try StateFixture()
        try await fixture.database.setNote("hash_key", to: "f1")
        try await fixture.database.lowerNote(Self.name, to: 2)
        try await fixture.database.acceptLostCommits()
        let accepted = try await fixture.database.note(Self.name)
        #expect(accepted == nil)
        try await fixture.database.lowerNote(Self.name, to: 2)
        try await fixture.database.forgetOrphans()
        let restored = try await fixture.database.note(Self.name)
        #expect(restored == nil)
        let key = try await fixture.database.note("hash_key")
        #expect(key == "f1")
    }
}
