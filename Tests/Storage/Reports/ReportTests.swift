import GRDB
import Lifecycle
import Testing

@testable import Storage

/// Sums of random histories against a naive count of the same.
@Suite(.onEachDatabase)
struct ReportTests {
    /// A request as a row has it.
    private struct Made {
        let id: RequestID
        let kind: RequestKind
        let accepted: Int64
        let deadline: Int64
        let ended: Int64?
        let isCompleted: Bool
        let isMerged: Bool
        let verdicts: [(provider: String, verdict: Verdict)]
        let keptCount: Int
        var phase: String {
            ended == nil ? "accepted" : isCompleted ? "completed" : "cancelled"
        }
        var counts: String { #"[["bills","keep",\#(keptCount),0]]"# }
    }

    /// A month of a hundred seconds, in the middle of a history of three hundred.
    private static let period = time(100_000)..<time(200_000)

    private static func time(_ milliseconds: Int64) -> WallTime {
        WallTime(unixMilliseconds: 1_800_000_000_000 + milliseconds)
    }

    private static func makeHistory(_ random: inout SeededGenerator, count: Int) -> [Made] {
        (0..<count).map { _ in
            let accepted = Int64.random(in: 0..<300_000, using: &random)
            let length = Int64.random(in: 0..<150_000, using: &random)
            let kind: RequestKind =
                Int.random(in: 0..<4, using: &random) == 0 ? .revokeTokens : .deleteAccount
            let isCompleted = Int.random(in: 0..<5, using: &random) > 0
            let providers = ["apple", "google"].prefix(Int.random(in: 0...2, using: &random))
            let kept = Int.random(in: 0..<4, using: &random)
            return Made(
                id: RequestID(StateFixture.newID()),
                kind: kind,
                accepted: accepted,
                deadline: accepted + 100_000,
                ended: accepted + length < 300_000 ? accepted + length : nil,
                isCompleted: isCompleted,
                isMerged: !isCompleted && kind == .revokeTokens && kept < 2,
                verdicts: providers.map {
                    ($0, Verdict.allCases.randomElement(using: &random) ?? .proven)
                },
                keptCount: kept
            )
        }
    }

    private static func insert(_ history: [Made], _ fixture: StateFixture) async throws {
        let byEnd = history.filter { $0.ended != nil }.sorted {
            ($0.ended ?? 0, $0.id.description) < ($1.ended ?? 0, $1.id.description)
        }
        try await fixture.database.writer.perform { database in
            for (index, made) in byEnd.enumerated() {
                try insert(made, sequence: index + 1, database)
            }
            for made in history where made.ended == nil {
                try insert(made, sequence: nil, database)
            }
            let completed = byEnd.count { $0.isCompleted }
            try database.run(
                "UPDATE totals SET completed = ?, cancelled = ?",
                [.int(completed), .int(byEnd.count - completed)]
            )
        }
    }

    private static func insert(_ made: Made, sequence: Int?, _ database: any StateConnection) throws
    {
        let isErasure = made.isCompleted && made.kind == .deleteAccount
        try database.run(
            """
            INSERT INTO requests (id, kind, user_id, user_hash, slot, generation, origin,
              created_at, accepted_at, not_before, deadline_at, phase, lane, open_revocations,
              ended_at, end_detail, end_sequence, updated_at)
            VALUES (?1, ?2, ?3, ?4, ?5, 1, 'spool', ?6, ?6, ?6, ?7, ?8, '', 0, ?9, ?10, ?11, ?6)
            """,
            [
                .id(made.id), .text(made.kind.rawValue),
                made.ended == nil ? .text("u-\(made.id)") : .null,
                .blob(StateFixture.hash("\(made.id)")),
                made.ended == nil && made.kind == .deleteAccount ? .blob([]) : .id(made.id),
                .time(time(made.accepted)), .time(time(made.deadline)),
                .text(made.phase),
                .time(made.ended.map(time)),
                .text(made.isMerged && made.ended != nil ? Request.merged : nil),
                .int(sequence),
            ]
        )
        for (position, link) in made.verdicts.enumerated() {
            try database.run(
                """
                INSERT INTO revocations (request_id, position, identity_id, provider, client_id,
                  is_shared, credentials, verdict, attempts, failures)
                VALUES (?, ?, ?, ?, 'c', 0, '[]', ?, 0, 0)
                """,
                [
                    .id(made.id), .int(position), .id(made.id), .text(link.provider),
                    .text(link.verdict.rawValue),
                ]
            )
        }
        guard made.kind == .deleteAccount else { return }
        try database.run(
            """
            INSERT INTO purges (request_id, position, store, step, counts, attempts, failures)
            VALUES (?, 0, 'app-db', 'verified', ?, 1, 0)
            """,
            [.id(made.id), .text(made.counts)]
        )
        guard isErasure, let ended = made.ended else { return }
        try database.run(
            """
            INSERT INTO tombstones (user_hash, generation, erased_at, request_id)
            VALUES (?, 1, ?, ?)
            """,
            [.blob(StateFixture.hash("\(made.id)")), .time(time(ended)), .id(made.id)]
        )
    }

    private static func isWithin(_ at: Int64?) -> Bool {
        at.map { period.contains(time($0)) } ?? false
    }

    /// 5,000 requests are more than one page.
    @Test(arguments: [(1, 40), (2, 400), (3, 5000)])
    func `totals and completed work are a naive count's`(seed: Int, count: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let fixture = try StateFixture()
        let history = Self.makeHistory(&random, count: count)
        try await Self.insert(history, fixture)
        let totals = try await fixture.database.periodTotals(of: [Self.period])[0]
        for kind in RequestKind.allCases {
            let own = history.filter { $0.kind == kind }
            let ends = own.filter { Self.isWithin($0.ended) }
            let found = try #require(totals[kind])
            #expect(found.submitted == own.count { Self.isWithin($0.accepted) }, "seed \(seed)")
            #expect(found.completed == ends.count { $0.isCompleted })
            #expect(found.merged == ends.count { $0.isMerged })
            #expect(found.cancelled == ends.count { !$0.isCompleted && !$0.isMerged })
        }
        var kept = 0
        let counts = try await fixture.database.completedCounts(in: Self.period) { groups in
            for group in groups {
                kept += (group.work.counts.entries.first?.rowCount ?? 0) * group.requestCount
            }
        }
        let done = history.filter { $0.isCompleted && Self.isWithin($0.ended) }
        let erased = done.filter { $0.kind == .deleteAccount }
        let lengths = erased.map { ($0.ended ?? 0) - $0.accepted }.sorted()
        #expect(counts.durations.map(\.milliseconds) == lengths)
        #expect(counts.lateCount == lengths.count { $0 > 100_000 })
        var verdicts: [ProviderName: [Verdict: Int]] = [:]
        for link in done.flatMap(\.verdicts) {
            verdicts[ProviderName(link.provider), default: [:]][link.verdict, default: 0] += 1
        }
        #expect(counts.verdicts == verdicts)
        #expect(kept == erased.reduce(0) { $0 + $1.keptCount })
    }

    @Test func `open requests are counted, and those that are late come first`() async throws {
        var random = SeededGenerator(seed: 4)
        let fixture = try StateFixture()
        let history = Self.makeHistory(&random, count: 900)
        try await Self.insert(history, fixture)
        let end = Self.period.upperBound
        let now = Self.time(260_000)
        let counts = try await fixture.database.openCounts(acceptedBefore: end, at: now)
        let open = history.filter { $0.ended == nil && Self.time($0.accepted) < end }
        #expect(counts.byState == [.accepted: open.count])
        let late = open.filter { Self.time($0.deadline) <= now }
        #expect(counts.overdueCount == late.count { $0.kind == .deleteAccount })
        #expect(counts.waitingCount == late.count)
        #expect(counts.waiting.count == min(late.count, StateDatabase.waitingRowMax))
        let deadlines = late.map { Self.time($0.deadline) }.sorted()
        #expect(counts.waiting.map(\.deadlineAt) == Array(deadlines.prefix(counts.waiting.count)))
    }

    @Test func `rows that were removed are a gap and no smaller number`() async throws {
        var random = SeededGenerator(seed: 5)
        let fixture = try StateFixture()
        let history = Self.makeHistory(&random, count: 300)
        try await Self.insert(history, fixture)
        let whole = try await fixture.database.gaps(in: Self.period)
        #expect(whole.requests == 0 && whole.erasures == 0)
        #expect(whole.recordsSince == history.map { Self.time($0.accepted) }.min())
        let removed = history.filter { Self.isWithin($0.ended) }.prefix(20)
        try await fixture.database.writer.perform { database in
            for made in removed {
                try database.run("DELETE FROM requests WHERE id = ?", [.id(made.id)])
            }
        }
        let gaps = try await fixture.database.gaps(in: Self.period)
        #expect(gaps.requests == 20)
        #expect(
            gaps.erasures == removed.count { $0.isCompleted && $0.kind == .deleteAccount }
        )
        let before = try await fixture.database.gaps(
            in: Self.time(0)..<Self.period.lowerBound
        )
        #expect(before.requests == 0 && before.erasures == 0)
    }

    @Test func `percentiles are those of the nearest rank`() {
        var counts = CompletedCounts()
        #expect(counts.duration(at: 0.5) == nil)
        counts.durations = (1...20).map { .seconds($0) }
        #expect(counts.duration(at: 0.5) == .seconds(10))
        #expect(counts.duration(at: 0.95) == .seconds(19))
        #expect(counts.duration(at: 1) == .seconds(20))
        #expect(counts.count(upTo: .seconds(7)) == 7)
        #expect(counts.count(upTo: .zero) == 0)
    }
}
