import FoundationEssentials
import GRDB
import Testing

@testable import Storage

@Suite("Copying the WAL beside the writer")
struct WALCopiesTests {
    @Test("only the first copy after the WAL was emptied may be beside the writer")
    func once() {
        let copies = WALCopies()
        #expect(copies.beginBeside())
        #expect(!copies.beginBeside(), "one is under way")
        #expect(!copies.beginByWriter(), "nor may the writer, which could begin the WAL anew then")
        copies.end()
        #expect(!copies.beginBeside(), "all frames may have been copied")
        #expect(copies.beginByWriter())
        copies.noteEmptied()
        #expect(copies.beginByWriter())
        #expect(!copies.beginBeside(), "the writer has copied all frames")
        copies.noteEmptied()
        #expect(copies.beginBeside())
    }

    @Test("a scrub copies a large WAL beside the writer, which goes on, and empties it")
    func scrub() async throws {
        let fixture = try StateFixture()
        let state = fixture.database
        let file = try #require(state.backend as? SQLiteState)
        try await state.writer.run("CREATE TABLE big (id, bytes)")
        func write(_ id: Int) async throws {
            try await state.writer.run("INSERT INTO big VALUES (?, randomblob(100000))", [.int(id)])
        }
        for id in 0..<30 { try await write(id) }
        let walByteCount = WALFile.byteCount(ofDatabase: state.path)
        #expect(walByteCount > SQLiteState.besideByteCountMin)
        _ = await file.scrubBeside()
        #expect(WALFile.byteCount(ofDatabase: state.path) == walByteCount, "not emptied yet")
        let copied = try FileManager.default.attributesOfItem(atPath: state.path)[.size] as? Int
        #expect(try #require(copied) > 3_000_000, "and all is in the database")
        #expect(!file.copies.beginBeside())
        async let scrubbed = state.scrub()
        for id in 30..<60 { try await write(id) }
        _ = try await scrubbed
        _ = try await state.scrub()
        #expect(file.copies.beginBeside(), "the WAL was emptied")
        file.copies.end()
        #expect(WALFile.byteCount(ofDatabase: state.path) < 100_000, "only the scrub's own note")
        let (count, answer) = try await state.read { database in
            (
                try database.int("SELECT count(DISTINCT id) FROM big"),
                try database.first("PRAGMA integrity_check") { $0.text() }
            )
        }
        #expect(count == 60)
        #expect(answer == "ok")
    }
}
