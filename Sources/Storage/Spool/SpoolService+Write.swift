import Engine
import Lifecycle
import Synchronization

extension SpoolService {
    /// When too many wait for the lock, importing waits, too.
    func addSettlements(_ settlements: [CredentialSettlement]) async {
        let count = work.withLock { work in
            work.settlements += settlements
            return work.settlements.count
        }
        if count > SpoolLimits.settlementsMax {
            await settleAll()
        } else {
            settleSignal.send()
        }
    }

    /// Scrubs until nothing waits, the task is cancelled or the spool cannot be written.
    func settleAll() async {
        var lock = SpoolPause.lock
        while !Task.isCancelled, monitor.canWrite {
            switch await settleOnce() {
            case .done(0): return
            case .done: lock = SpoolPause.lock
            case .busy: guard await rest(lock.take()) else { return }
            case .closed: return
            case .moved: return poke()
            case .failure(let failure): return fail(failure)
            }
        }
    }

    /// One commit of what waits; its rows wait again unless it is `done`.
    @discardableResult
    func settleOnce() async -> SpoolAnswer<Int> {
        let settlements = work.withLock { work in
            let first = Array(work.settlements.prefix(SpoolLimits.batchMax))
            work.settlements.removeFirst(first.count)
            return first
        }
        guard !settlements.isEmpty else { return .done(0) }
        let answer = await database.settle(settlements)
        guard case .done(let changedCount) = answer else {
            work.withLock { $0.settlements.insert(contentsOf: settlements, at: 0) }
            return answer
        }
        monitor.writeSucceeded()
        if changedCount > 0 { rescanNow() }
        return .done(settlements.count)
    }

    /// What reading will find, too, is left to it.
    private func fail(_ failure: SpoolFailure) {
        switch failure {
        case .refused, .missing, .newerVersion, .inWAL, .unreachable: database.readAgain()
        case .corrupt, .wrongSchema, .unopenable, .readOnly, .diskFull, .ioError, .locked, .slow,
            .largeWAL, .tls, .denied, .badCredential:
            monitor.writeFailed(failure)
        }
        poke()
    }
}

// MARK: - The mirror

extension SpoolService {
    /// Shows states until nothing is left to show; at most four commits a second.
    func mirrorAll() async {
        var failures = 0
        while !Task.isCancelled, database.isOpen, monitor.canWrite {
            guard await awaitTurn() else { return }
            do {
                let limit = mirrorPace.withLock { $0.rowCount }
                let rows = try await ports.source.spoolMirrorRows(limit: limit)
                guard !rows.isEmpty, var count = await show(rows[...]) else { return }
                // A request is shown by all of its rows, or not yet.
                while rows.isCut(at: count), await awaitTurn() {
                    guard let more = await show(rows[count...]) else { return }
                    count += more
                }
                guard !rows.isCut(at: count) else { return }
                try await ports.source.confirmMirrored(Array(rows.prefix(count)))
                failures = 0
            } catch {
                // The state is in failure and says so itself; no later change may come.
                failures += 1
                guard await rest(RetryPolicy.intake.delay(failures: failures)) else { return }
            }
        }
    }

    /// Waits until the mirror may commit again; `false` when the task was cancelled.
    private func awaitTurn() async -> Bool {
        while true {
            let now = ports.clock.uptime()
            let count = signalCount.load(ordering: .relaxed)
            let isIdle = ports.source.isQuiet
            let (wait, quietWait) = mirrorPace.withLock { pace in
                let rest = pace.restOfQuiet(signalCount: count, isIdle: isIdle, at: now)
                return (pace.wait(at: now), max(rest, pace.waitWhenQuiet(at: now)))
            }
            guard wait > .zero, quietWait > .zero else { return true }
            guard await rest(min(wait, quietWait)) else { return false }
        }
    }

    /// Returns how many of the rows, from the first, were shown or are gone; `nil` when the spool
    /// cannot be written now.
    private func show(_ rows: ArraySlice<MirrorRow>) async -> Int? {
        var lock = SpoolPause.lock
        while true {
            let time = mirrorPace.withLock { $0.buildTime }
            switch await database.mirror(rows, within: time) {
            case .done(let commit):
                mirrorPace.withLock { $0.note(commit) }
                monitor.writeSucceeded()
                if commit.strangerCount > 0 { rescanNow() }
                if commit.unreadableCount > 0 {
                    monitor.tell(.unreadableRows(count: commit.unreadableCount))
                }
                return commit.handledCount
            case .busy:
                guard await rest(lock.take()) else { return nil }
            case .closed:
                return nil
            case .moved:
                poke()
                return nil
            case .failure(let failure):
                fail(failure)
                return nil
            }
        }
    }
}

extension [MirrorRow] {
    /// Whether the rows before and after an index belong to one request.
    fileprivate func isCut(at index: Int) -> Bool {
        guard indices.contains(index), index > startIndex, let id = self[index].requestID else {
            return false
        }
        return self[index - 1].requestID == id
    }
}
