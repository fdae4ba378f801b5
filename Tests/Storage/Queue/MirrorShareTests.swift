import Engine
import Lifecycle
import Testing

@testable import Storage

@Suite("The states of several spools") struct MirrorShareTests {
    private static let queueID = SpoolSource.spoolID(queue: "app", id: "q1")

    private static func row(_ spoolID: String, _ id: Int64) -> SpoolRow {
        SpoolRow(spoolID: spoolID, rowID: id, fingerprint: StateFixture.hash("\(spoolID) \(id)"))
    }

    private func sources(
        _ fixture: StateFixture
    ) -> (file: SharedMirrorSource, queue: SharedMirrorSource) {
        (
            SharedMirrorSource(fixture.database, .allBut(queues: ["app"])),
            SharedMirrorSource(fixture.database, .queue("app"))
        )
    }

    @Test("each spool shows its own rows only, and rows of a spool that is gone go with the file")
    func parts() async throws {
        let fixture = try StateFixture()
        for (index, id) in ["file", Self.queueID, "queue:gone:x"].enumerated() {
            let origin = SubmissionOrigin.spool(Self.row(id, 1))
            _ = try await fixture.accept(StateFixture.submission("u\(index)", origin: origin))
        }
        try await fixture.database.refuse(
            [RefusedRow(row: Self.row(Self.queueID, 2), reason: .unknownKind)],
            now: StateFixture.start
        )
        let (file, queue) = sources(fixture)
        let own = try await queue.spoolMirrorRows(limit: 100)
        #expect(own.map(\.spoolRow) == [2, 1])
        #expect(own.allSatisfy { $0.spoolID == Self.queueID })
        let others = try await file.spoolMirrorRows(limit: 100)
        #expect(Set(others.map(\.spoolID)) == ["file", "queue:gone:x"])
        try await file.confirmMirrored(others)
        #expect(try await file.spoolMirrorRows(limit: 100).isEmpty)
        #expect(try await queue.spoolMirrorRows(limit: 100).count == 2)
        try await queue.confirmMirrored(own)
        #expect(try await queue.spoolMirrorRows(limit: 100).isEmpty)
    }

    @Test("a request with rows in both is shown in both, each state once, in either order")
    func both() async throws {
        for isFileFirst in [true, false] {
            let fixture = try StateFixture()
            let outcomes = try await fixture.accept(
                StateFixture.submission("u", origin: .spool(Self.row("file", 1))),
                StateFixture.submission("u", origin: .spool(Self.row(Self.queueID, 7)))
            )
            guard case .accepted(let loaded, _) = outcomes[0] else {
                Issue.record("not accepted")
                return
            }
            let (file, queue) = sources(fixture)
            let (first, second) = isFileFirst ? (file, queue) : (queue, file)
            try await first.confirmMirrored(first.spoolMirrorRows(limit: 10))
            #expect(try await first.spoolMirrorRows(limit: 10).isEmpty)
            let stale = try await second.spoolMirrorRows(limit: 10)
            #expect(stale.map(\.state) == [.accepted])
            try await fixture.save(loaded.request.completed(), was: loaded.request)
            // It shows an older state than the last.
            try await second.confirmMirrored(stale)
            for source in [first, second] {
                let rows = try await source.spoolMirrorRows(limit: 10)
                #expect(rows.map(\.state) == [.completed])
                try await source.confirmMirrored(rows)
            }
            for source in [first, second] {
                #expect(try await source.spoolMirrorRows(limit: 10).isEmpty)
            }
        }
    }

    @Test("without queues the file shows what a queue did not")
    func alone() async throws {
        let fixture = try StateFixture()
        _ = try await fixture.accept(
            StateFixture.submission("u", origin: .spool(Self.row("file", 1))),
            StateFixture.submission("u", origin: .spool(Self.row(Self.queueID, 7)))
        )
        let (file, _) = sources(fixture)
        try await file.confirmMirrored(file.spoolMirrorRows(limit: 10))
        let rows = try await fixture.database.spoolMirrorRows(limit: 10)
        #expect(rows.map(\.spoolID) == [Self.queueID])
        try await fixture.database.confirmMirrored(rows)
        #expect(try await fixture.database.spoolMirrorRows(limit: 10).isEmpty)
    }

    @Test("a host shows the rows of its own spool, and leaves those of others to them")
    func hosts() async throws {
        let fixture = try StateFixture()
        let ids = ["a", "b"].map { SpoolSource.spoolID(host: $0, id: "file") }
        for (index, id) in ids.enumerated() {
            let origin = SubmissionOrigin.spool(Self.row(id, 1))
            _ = try await fixture.accept(StateFixture.submission("u\(index)", origin: origin))
        }
        let sources = ["a", "b"].map { SharedMirrorSource(fixture.database, .host($0)) }
        for (source, id) in zip(sources, ids) {
            #expect(SpoolSource(spoolID: id) == .file)
            let rows = try await source.spoolMirrorRows(limit: 10)
            #expect(rows.map(\.spoolID) == [id])
            try await source.confirmMirrored(rows)
            #expect(try await source.spoolMirrorRows(limit: 10).isEmpty)
        }
    }
}
