import Engine
import Lifecycle
import Synchronization

extension SpoolService {
    /// Queues credentials to be scrubbed; when too many wait for the lock, importing waits, too.
    func addSettlements(_ settlements: [CredentialSettlement]) async {
        let count = work.withLock { work in
            work.settlements += settlements
            return work.settlements.count
        }
        if count > SpoolLimits.settlementsMax {
            await settleAll()
        } else {
            wakeSettling()
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
            case .trouble(let trouble): return fail(trouble)
            }
        }
    }

    /// One commit of what waits.
    ///
    /// - Returns: How many rows it was about; they wait again unless it is `done`.
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

    /// A write failed; what reading will find, too, is left to it.
    private func fail(_ trouble: SpoolTrouble) {
        switch trouble {
        case .refused, .missing, .newerVersion: database.readAgain()
        case .corrupt, .wrongSchema, .unopenable, .readOnly, .diskFull, .ioError, .locked, .slow:
            monitor.writeFailed(trouble)
        }
        poke()
    }
}

// MARK: - The mirror

extension SpoolService {
    /// Shows states until nothing is left to show; at most four commits a second.
    func mirrorAll() async {
        while !Task.isCancelled, database.isOpen, monitor.canWrite {
            do {
                let limit = mirrorPace.withLock { $0.rowCount }
                let rows = try await ports.source.spoolMirrorRows(limit: limit)
                guard !rows.isEmpty, await show(rows) else { return }
                try await ports.source.confirmMirrored(rows.map(\.row))
            } catch {
                // The state is in trouble and says so itself; the next change starts again.
                return
            }
        }
    }

    /// - Returns: Whether every row was shown or is gone.
    private func show(_ rows: [SpoolMirrorRow]) async -> Bool {
        var rest = rows[...]
        var lock = SpoolPause.lock
        while !rest.isEmpty {
            let wait = mirrorPace.withLock { $0.wait(at: ports.clock.uptime()) }
            if wait > .zero, await !self.rest(wait) { return false }
            let start = ports.clock.uptime()
            switch await database.mirror(rest) {
            case .done(let commit):
                let now = ports.clock.uptime()
                mirrorPace.withLock { $0.note(commit, from: start, to: now) }
                lock = SpoolPause.lock
                monitor.writeSucceeded()
                if commit.strangerCount > 0 { rescanNow() }
                if commit.unreadableCount > 0 {
                    monitor.tell(.unreadableRows(count: commit.unreadableCount))
                }
                rest = rest.dropFirst(commit.handledCount)
            case .busy:
                guard await self.rest(lock.take()) else { return false }
            case .closed:
                return false
            case .moved:
                poke()
                return false
            case .trouble(let trouble):
                fail(trouble)
                return false
            }
        }
        return true
    }
}
