import Control
import Engine
import Lifecycle
import Logging
import Storage

/// Searches the stores for users that were erased long ago, some of them each time, all in turn.
///
/// Of them nothing is left but keyed hashes, so each store tells its own user ids, as for a replay.
/// It only reads. Who is found has a case again, and is looked at until the data is gone.
struct TombstoneSampler: Sendable {
    /// Of ten million tombstones, of users and of ids of stores, each comes up within four years of
    /// weekly samples; more would only take memory, for the stores are read as a whole either way.
    static let sampleMax = 50_000
    /// Its value is ``Progress``.
    private static let note = "tombstone_sample"

    /// When the last sample was, where it ended, and whether it found anything.
    private struct Progress {
        var at: WallTime
        var position = 0
        var isFound = false

        init(at: WallTime) { self.at = at }

        init?(text: String) {
            let words = text.split(separator: " ").compactMap { Int64($0) }
            guard words.count == 3 else { return nil }
            at = WallTime(unixMilliseconds: words[0])
            position = Int(words[1])
            isFound = words[2] != 0
        }

        var text: String { "\(at.unixMilliseconds) \(position) \(isFound ? 1 : 0)" }
    }

    let state: StateDatabase
    /// Nobody else's: its progress is overwritten.
    let replay: ReplayService
    let cases: RecheckSealer
    let keys: FoundKeyService
    let interval: Duration
    let clock: any EngineClock
    let counter: RecheckCounter
    let logger: Logger

    var isOn: Bool { interval > .zero }

    /// Samples until the task is cancelled; the first time one interval after the first start.
    ///
    /// - Throws: `CancellationError`, or the error of a store whose truth is unknown.
    func run() async throws {
        var progress: Progress
        if let known = try await state.note(Self.note).flatMap(Progress.init(text:)) {
            progress = known
        } else {
            progress = Progress(at: clock.now())
            try await keep(progress)
        }
        counter.sampled(isFound: progress.isFound)
        while true {
            try await clock.sleep(until: progress.at + interval)
            progress = try await sample(after: progress)
            counter.sampled(isFound: progress.isFound)
            try await keep(progress)
        }
    }

    private func keep(_ progress: Progress) async throws {
        try await state.persist(clock) { try await $0.setNote(Self.note, to: progress.text) }
    }

    private func sample(after last: Progress) async throws -> Progress {
        var (page, position) = try await state.tombstoneSample(
            after: last.position,
            limit: Self.sampleMax
        )
        if page.isEmpty, last.position > 0 {
            (page, position) = try await state.tombstoneSample(after: 0, limit: Self.sampleMax)
        }
        var progress = Progress(at: clock.now())
        progress.position = position
        guard !page.isEmpty else { return progress }
        let (targets, found) = try await replay.look(for: page)
        try await reopen(found)
        for target in targets {
            if let error = target.error {
                logger.warning(
                    "cannot search a store for erased users, ignoring",
                    metadata: ["target": "\(target.name)", "error": "\(error)"]
                )
            }
            guard target.found > 0 else { continue }
            progress.isFound = true
            try await tell(target)
        }
        return progress
    }

    private func tell(_ target: WireReplayTarget) async throws {
        let now = clock.now()
        try await state.persist(clock) {
            try await $0.recordSample(
                users: target.found,
                rows: target.rows,
                in: TargetName(target.name),
                at: now
            )
        }
        logger.note(
            .dataReturned,
            ["target": "\(target.name)", "count": "\(target.found)", "detail": "sample"]
        )
    }

    /// Has what was found looked at until it is gone, and says so for each deletion.
    private func reopen(_ found: [ReplayFinding]) async throws {
        guard !found.isEmpty else { return }
        let now = clock.now()
        let sealed = await keys.sealForRechecks(
            found.compactMap { finding in
                let order = finding.order.purge
                return finding.key.map {
                    FoundKeys(request: order.request, name: $0, ids: [order.user])
                }
            }
        )
        let keysOf = Dictionary(grouping: sealed, by: \.request)
        let byRequest = Dictionary(grouping: found, by: \.order.purge.request)
        let returned = byRequest.sorted { $0.key < $1.key }.map { request, findings in
            let user = findings.first { $0.key == nil }?.order.purge.user
            let rows = Dictionary(findings.map { ($0.target, $0.rowCount) }, uniquingKeysWith: +)
            return ReturnedData(
                request: request,
                found: rows.sorted { $0.key < $1.key }.map {
                    Recheck.Found(target: $0.key, rowCount: $0.value)
                },
                opened: cases.reopen(request, of: user ?? .nobody(), at: now),
                keys: keysOf[request] ?? [],
                isNameless: user == nil
            )
        }
        let recorded = try await state.persist(clock) {
            try await $0.reopenRechecks(returned, at: now)
        }
        for data in recorded {
            counter.count(.returned)
            for found in data.found {
                logger.note(
                    .dataReturned,
                    [
                        "request.id": "\(data.request)", "target": "\(found.target)",
                        "count": "\(found.rowCount)",
                    ]
                )
            }
        }
    }
}
