import Encoding
import Lifecycle

/// How far the steps of one order have come.
struct HTTPProgress: Sendable {
    var doneCount = 0
    /// What steps have found, by their names.
    var found: [String: [String]] = [:]
    var counts = PurgeCounts()
}

/// Makes the steps for one user, in their order.
struct HTTPRun {
    /// How an erasure ended.
    enum Outcome {
        case done
        /// A job goes on; to be asked again after that time.
        case waiting(Duration)
        /// A reload came between two calls.
        case outdated
    }

    /// The largest count that is believed.
    static let countMax = 1_000_000_000_000

    let caller: HTTPCaller
    let values: HTTPValues
    let now: @Sendable () -> WallTime
    /// Of each thing that a step finds.
    var pagesMax = HTTPPages.userPagesMax
    /// Whether one thing is as good as all of them.
    var stopsAtFirst = false

    /// Makes the steps that are not done; `progress` says how far it came, however it ends.
    func erase(
        _ steps: [HTTPStep],
        _ progress: inout HTTPProgress,
        isOutdated: () -> Bool
    ) async throws(HTTPFailure) -> Outcome {
        while progress.doneCount < steps.count {
            guard !isOutdated() else { return .outdated }
            let step = steps[progress.doneCount]
            if step.polls {
                guard try await isOver(step, &progress) else { return .waiting(step.every) }
            } else if step.effect == .proves {
                _ = try await caller.send(step, values)
            } else if step.effect == .reads {
                progress.found[step.name] = try await find(step, progress.found)
            } else {
                let isJob = steps.contains { $0.polls && $0.forEach == step.name }
                try await change(step, isJob: isJob, &progress)
            }
            progress.doneCount += 1
        }
        return .done
    }

    /// Counts what steps find, one number for each that is not only the way to another.
    func count(
        _ steps: [HTTPStep]
    ) async throws(HTTPFailure) -> [(step: HTTPStep, count: Int)] {
        var found: [String: [String]] = [:]
        var counts: [(step: HTTPStep, count: Int)] = []
        for step in steps {
            if step.effect == .proves {
                _ = try await caller.send(step, values)
                continue
            }
            if step.finds {
                let ids = try await find(step, found)
                found[step.name] = ids
                guard !steps.contains(where: { $0.forEach == step.name }) else { continue }
                counts.append((step, ids.count))
                continue
            }
            var count = 0
            for values in calls(of: step, found) { count += try await remaining(step, values) }
            counts.append((step, min(count, Self.countMax)))
        }
        return counts
    }

    func find(_ step: HTTPStep, _ found: [String: [String]]) async throws(HTTPFailure) -> [String] {
        var ids: [String] = []
        var seen: Set<[UInt8]> = []
        for values in calls(of: step, found) {
            var pages = HTTPPages(step, values, caller)
            try await pages.forEach(pagesMax: pagesMax) { page throws(HTTPFailure) in
                for id in page where step.id == nil || seen.insert(Array(id.utf8)).inserted {
                    ids.append(id)
                }
                guard ids.count <= Limits.keysMax else {
                    throw .malformed("more than \(Limits.keysMax) things of one user")
                }
                return !stopsAtFirst || ids.isEmpty
            }
        }
        return ids
    }

    /// One for each id that the step is made for.
    private func calls(of step: HTTPStep, _ found: [String: [String]]) -> [HTTPValues] {
        guard let source = step.forEach else { return [values] }
        return (found[source] ?? []).map { id in
            var values = values
            values.id = id
            return values
        }
    }

    // MARK: Changing

    private func change(
        _ step: HTTPStep,
        isJob: Bool,
        _ progress: inout HTTPProgress
    ) async throws(HTTPFailure) {
        // What was asked for before is waited for like what is asked for now.
        var ids = step.unless.flatMap { progress.found[$0] } ?? []
        var count = ids.isEmpty ? 0 : 1
        for values in ids.isEmpty ? calls(of: step, progress.found) : [] {
            guard case .done(let json, _) = try await caller.send(step, values) else { continue }
            count += try number(step, json) ?? 1
            if let pointer = step.id {
                guard let id = pointer.value(in: json)?.plainText, UserID(id) != nil else {
                    throw .malformed("the answer has no usable id at 'id'")
                }
                ids.append(id)
            }
        }
        progress.found[step.name] = ids
        if isJob, step.count == nil { return }
        note(step, min(count, Self.countMax), &progress.counts)
    }

    private func note(_ step: HTTPStep, _ count: Int, _ counts: inout PurgeCounts) {
        let action: PurgeCounts.Action = step.promised == nil ? .rule(.delete) : .accepted
        let entry = PurgeCounts.Entry(name: step.name, action: action, rowCount: count)
        counts.add(PurgeCounts(entries: [entry]))
        if let keeps = step.keeps, count > 0 {
            counts.note(PurgeCounts.ResidualCopies(text: keeps, until: nil))
        }
        guard let promised = step.promised else { return }
        counts.note(PurgeCounts.ResidualCopies(.promised, until: now() + promised))
    }

    private func isOver(
        _ step: HTTPStep,
        _ progress: inout HTTPProgress
    ) async throws(HTTPFailure) -> Bool {
        var count = 0
        for values in calls(of: step, progress.found) {
            let answer: HTTPCaller.Answer
            do throws(HTTPFailure) {
                answer = try await caller.send(step, values)
            } catch {
                // The next try starts the job anew: nobody will ever hear of this one.
                if error.isMissing { progress = HTTPProgress() }
                throw error
            }
            guard case .done(let json, _) = answer else { continue }
            for condition in step.fails where try condition.holds(in: json, values) {
                // The next try starts from the beginning.
                progress = HTTPProgress()
                throw .malformed("the server says that the job of step '\(step.name)' failed")
            }
            for condition in step.until where try !condition.holds(in: json, values) {
                return false
            }
            count += try number(step, json) ?? 0
        }
        if step.count != nil { note(step, min(count, Self.countMax), &progress.counts) }
        return true
    }

    // MARK: Counting

    private func remaining(
        _ step: HTTPStep,
        _ values: HTTPValues
    ) async throws(HTTPFailure) -> Int {
        guard case .done(let json, _) = try await caller.send(step, values) else { return 0 }
        return try number(step, json) ?? 1
    }

    /// The count of an answer; `nil` where the step has none.
    private func number(_ step: HTTPStep, _ json: JSONValue) throws(HTTPFailure) -> Int? {
        guard let pointer = step.count else { return nil }
        guard case .integer(let number)? = pointer.value(in: json),
            (0...Int64(Self.countMax)).contains(number)
        else { throw .malformed("the answer has no count at 'count'") }
        return Int(number)
    }
}
