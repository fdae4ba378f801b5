import Engine
import Lifecycle
import Storage

/// Searches the stores for users who were erased long ago, some each time.
struct TombstoneSampler: Sendable {
    private static let note = "tombstone_sample"

    let parts: RecheckParts
    let interval: Duration
    var steward = Steward.single

    var isOn: Bool { interval > .zero }

    func run() async throws {
        while true {
            try await steward.wait()
            try await parts.clock.sleep(until: try await schedule().dueAt(every: interval))
            // Another host may have taken one meanwhile.
            let schedule = try await schedule()
            guard schedule.isDue(at: parts.clock.now(), every: interval) else { continue }
            _ = try await steward.run { try await sample(schedule) }
        }
    }

    /// What the last sample left, which another host may have taken.
    private func schedule() async throws -> SampleSchedule {
        let text = try await parts.clock.persist { try await parts.state.note(Self.note) }
        let known = text.flatMap(SampleSchedule.init(text:))
        let schedule = known ?? SampleSchedule(startedAt: parts.clock.now())
        if known == nil { _ = try await steward.run { try await keep(schedule) } }
        parts.counter.sampled(isFound: schedule.isFound)
        return schedule
    }

    private func sample(_ schedule: SampleSchedule) async throws {
        var run = schedule.run
        let begunAt = parts.clock.now()
        try await parts.driver.drive(&run)
        let isFollowed = try await areFollowed(run.report.returned)
        let next = schedule.after(run.report, isFollowed: isFollowed, begunAt: begunAt)
        guard let next else { return }
        parts.counter.sampled(isFound: next.isFound)
        try await keep(next)
    }

    /// Whether rechecks follow what returned, or did until an operator ended them.
    func areFollowed(_ requests: Set<RequestID>) async throws -> Bool {
        for id in requests {
            let record = try await parts.state.requestRecord(id)
            let isEnded = record?.rechecks.last?.outcome == .abandoned
            guard isEnded || record?.openRecheck?.returnedAt != nil else { return false }
        }
        return true
    }

    private func keep(_ schedule: SampleSchedule) async throws {
        try await parts.clock.persist {
            try await parts.state.setNote(Self.note, to: schedule.text)
        }
    }
}
