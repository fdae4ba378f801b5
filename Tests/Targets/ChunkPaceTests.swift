import Testing

@testable import Targets

@Test("a chunk shrinks at once, at most doubles, and stays within its bounds") func chunkPace() {
    #expect(ChunkPace.rows(after: 500, took: .milliseconds(40)) == 50)
    #expect(ChunkPace.rows(after: 500, took: .milliseconds(1)) == 1000)
    #expect(ChunkPace.rows(after: 500, took: .milliseconds(4)) == 500)
    #expect(ChunkPace.rows(after: 500, took: .zero) == 1000)
    #expect(ChunkPace.rows(after: 10, took: .seconds(1)) == 10)
    #expect(ChunkPace.rows(after: 3000, took: .milliseconds(1)) == 4000)
}
