import Testing

@testable import Stores

@Test("a chunk shrinks at once, at most doubles, and stays within its bounds") func chunkPace() {
    #expect(ChunkPace.rows(after: 500, took: .milliseconds(40)) == 50)
    #expect(ChunkPace.rows(after: 500, took: .milliseconds(1)) == 1000)
    #expect(ChunkPace.rows(after: 500, took: .milliseconds(4)) == 500)
    #expect(ChunkPace.rows(after: 500, took: .zero) == 1000)
    #expect(ChunkPace.rows(after: 10, took: .seconds(1)) == 10)
    #expect(ChunkPace.rows(after: 3000, took: .milliseconds(1)) == 4000)
}

@Test("a chunk at a server stays above its first size, unless it takes very long")
func serverChunkPace() {
    #expect(ChunkPace.serverRows(after: 2000, took: .milliseconds(20)) == 1500)
    #expect(ChunkPace.serverRows(after: 2000, took: .milliseconds(99)) == 500)
    #expect(ChunkPace.serverRows(after: 500, took: .milliseconds(99)) == 500)
    #expect(ChunkPace.serverRows(after: 500, took: .milliseconds(150)) == 50)
    #expect(ChunkPace.serverRows(after: 50, took: .milliseconds(50)) == 50)
    #expect(ChunkPace.serverRows(after: 50, took: .milliseconds(15)) == 50)
    #expect(ChunkPace.serverRows(after: 50, took: .milliseconds(1)) == 100)
    #expect(ChunkPace.serverRows(after: 4000, took: .milliseconds(1)) == 4000)
}

@Test(
    "a transaction ends after its time, and earlier where another chunk or the commit is slow",
    arguments: [
        (elapsed: 8, chunk: 4, commit: 3, isOver: false), (10, 1, 0, true), (4, 4, 11, false),
        (4, 4, 13, true), (5, 16, 0, true), (0, 0, 30, true),
    ]
)
func chunkTransactionEnd(elapsed: Int, chunk: Int, commit: Int, isOver: Bool) {
    #expect(
        ChunkPace.isOver(
            after: .milliseconds(elapsed),
            chunk: .milliseconds(chunk),
            commit: .milliseconds(commit)
        ) == isOver
    )
}
