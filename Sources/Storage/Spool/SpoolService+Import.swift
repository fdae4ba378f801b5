import Engine
import Lifecycle
import Synchronization

extension SpoolService {
    private enum Step {
        case again
        /// Until the next change or sweep.
        case stop
    }

    func importAll(_ watcher: any SpoolWaker) async {
        var mark = barrier.mark
        defer {
            giveUpUnreadable(mark)
            watcher.setAlert(monitor.needsSweeps || work.withLock { $0.mustRescan })
        }
        if watcher.takeSweep() { await sweep() }
        let mustRescan = work.withLock { work in
            defer { work.mustRescanNow = false }
            return work.mustRescanNow
        }
        if mustRescan { beginRescan(isForced: true) }
        var lock = SpoolPause.lock
        var limit = SpoolLimits.firstBatchMax
        while !Task.isCancelled {
            mark = barrier.mark
            guard await openIfNeeded() else { return }
            switch await importStep(limit, &lock) {
            case .again: limit = min(limit * 2, SpoolLimits.batchMax)
            case .stop: return
            }
        }
    }

    /// A paused intake takes credentials, as it does over the socket.
    private var tables: SpoolDatabase.Tables {
        work.withLock { $0.isPaused } ? .credentials : .all
    }

    private func importStep(_ limit: Int, _ lock: inout SpoolPause) async -> Step {
        let isRescan = database.isRescanning
        let mark = barrier.mark
        switch await database.read(.tail, tables, limit: limit) {
        case .done(let reading):
            lock = SpoolPause.lock
            await note(reading)
            guard await handOver(reading) else { return .again }
            answer(mark, reading)
            guard reading.isAtEnd else { return .again }
            return isRescan ? await rescanStep(&lock) : .stop
        case .busy:
            return await waitForLock(&lock, mark)
        case .closed:
            return .again
        case .moved:
            work.withLock { $0.wasMoved = true }
            database.close()
            return .again
        case .failure(.inWAL):
            // Opening it switches it back.
            database.close()
            return .again
        case .failure(let failure):
            database.close()
            monitor.quarantine(failure)
            return .stop
        }
    }

    /// Answers those who wait once the credentials of the first read have been taken.
    ///
    /// The end of all may never come while applications submit faster than the service seals.
    private func answer(_ mark: SpoolBarrier.Mark, _ reading: SpoolDatabase.Reading) {
        let passed = work.withLock { work -> SpoolBarrier.Mark? in
            if reading.isWalkStart { work.walkMark = mark }
            if reading.areCredentialsAtEnd {
                work.goal = nil
                return work.walkMark
            }
            if let goal = work.goal {
                guard (reading.nextCredential ?? .max) > goal.last else { return nil }
                work.goal = nil
                return goal.mark
            }
            guard barrier.hasWaiters, let look = reading.look else { return nil }
            work.goal = (mark, Int64(look.sequences[.credentials] ?? 0))
            return nil
        }
        if let passed { barrier.pass(passed) }
    }

    /// One piece of reading everything again; new rows are read between the pieces.
    private func rescanStep(_ lock: inout SpoolPause) async -> Step {
        let mark = barrier.mark
        switch await database.read(.all, tables, limit: SpoolLimits.batchMax) {
        case .done(let reading):
            work.withLock { $0.rescanUnreadableCount += reading.unreadableCount }
            guard await handOver(reading) else { return .stop }
            if reading.isAtEnd { endRescan() }
            return .again
        case .busy:
            return await waitForLock(&lock, mark)
        case .closed, .moved, .failure:
            // The next read of the tail says it again.
            return .again
        }
    }

    /// Pauses for the lock of another process; one that is held for long is reported, and then only
    /// events help.
    private func waitForLock(_ lock: inout SpoolPause, _ mark: SpoolBarrier.Mark) async -> Step {
        let patience = monitor.isKeptOut ? SpoolLimits.lockedPatience : lockedAfter
        guard lock.total < patience else {
            guard !database.isInWAL else {
                monitor.quarantine(.inWAL)
                return .stop
            }
            monitor.quarantine(.locked)
            giveUpUnreadable(mark)
            // The end of a lock that wrote nothing makes no event, and a request waits for it.
            guard barrier.hasWaiters, !Task.isCancelled else { return .stop }
            return await rest(RetryPolicy.lockedSpool.first) ? .again : .stop
        }
        return await rest(lock.take()) ? .again : .stop
    }

    /// Returns `false` when the task was cancelled.
    func rest(_ pause: Duration) async -> Bool { await ports.clock.pause(pause) }

    private func openIfNeeded() async -> Bool {
        guard !database.isOpen else { return true }
        let now = ports.clock.uptime()
        let pause = RetryPolicy.failingSpool.first
        if let last = work.withLock({ $0.openedAt }), now - last < pause,
            await !rest(pause - (now - last))
        {
            return false
        }
        work.withLock { $0.openedAt = ports.clock.uptime() }
        guard prepare() else { return false }
        var lock = SpoolPause.lock
        while true {
            let mark = barrier.mark
            let answer = await database.open()
            monitor.found(isInWAL: database.isInWAL)
            switch answer {
            case .done:
                work.withLock { $0.isFresh = true }
                return true
            case .busy:
                guard case .again = await waitForLock(&lock, mark) else { return false }
            case .closed, .moved:
                return false
            case .failure(.inWAL) where lock.total == .zero:
                // Found out just now; the next try switches it back.
                guard await rest(lock.take()) else { return false }
            case .failure(let failure):
                monitor.quarantine(failure)
                return false
            }
        }
    }

    private func note(_ reading: SpoolDatabase.Reading) async {
        let (wasMoved, isFresh) = work.withLock { work in
            defer { (work.wasMoved, work.isFresh) = (false, false) }
            return (work.wasMoved, work.isFresh)
        }
        if wasMoved || reading.isReplaced {
            monitor.tell(.replaced(isSameSpool: !reading.hasOtherID))
        }
        let wasQuarantined = monitor.readSucceeded(
            foreignCount: reading.foreignCount,
            unreadableCount: reading.unreadableCount
        )
        if wasQuarantined || isFresh {
            settleSignal.send()
            signal()
        }
    }

    /// Has the rows taken; `false` when none was, and they are read again.
    private func handOver(_ reading: SpoolDatabase.Reading) async -> Bool {
        if !reading.refusedCredentials.isEmpty { await addSettlements(reading.refusedCredentials) }
        let batch = reading.batch
        guard !batch.credentials.isEmpty || !batch.requests.isEmpty || !batch.refused.isEmpty else {
            return true
        }
        var failures = 0
        while true {
            do {
                let receipts = try await ports.intake.take(batch)
                guard receipts.credentials.count == batch.credentials.count,
                    receipts.requests.count == batch.requests.count
                else { preconditionFailure("one receipt per row") }
                await settle(batch, receipts)
                return true
            } catch {
                // The intake reports its failure; the same rows are offered again.
                failures += 1
                guard await rest(RetryPolicy.intake.delay(failures: failures)) else {
                    database.rewind()
                    return false
                }
            }
        }
    }

    private func settle(_ batch: SpoolBatch, _ receipts: SpoolReceipts) async {
        var settlements: [CredentialSettlement] = []
        var isPostponed = false
        for (credential, receipt) in zip(batch.credentials, receipts.credentials) {
            guard let row = credential.spoolRow else { continue }
            switch receipt {
            case .sealed: settlements.append(CredentialSettlement(row: row, rejection: nil))
            case .rejected(let reason):
                settlements.append(CredentialSettlement(row: row, rejection: reason))
            case .postponed: isPostponed = true
            }
        }
        if !settlements.isEmpty { await addSettlements(settlements) }
        var known: [SpoolRow] = batch.refused.map(\.row)
        var accepted: [AcceptedRow] = []
        for (submission, receipt) in zip(batch.requests, receipts.requests) {
            guard let row = submission.spoolRow else { continue }
            switch receipt {
            case .accepted(let id): accepted.append(AcceptedRow(row: row, request: id))
            case .same(let id):
                accepted.append(AcceptedRow(row: row, request: id))
                known.append(row)
            case .rejected: known.append(row)
            case .postponed: isPostponed = true
            }
        }
        // A row that is not marked is read again, and comes out the same.
        _ = await database.mark(accepted)
        if isPostponed {
            work.withLock { $0.mustRescan = true }
            postponedSignal.send()
        } else if !batch.credentials.isEmpty {
            work.withLock { $0.postponedCount = 0 }
        }
        await follow(batch, known)
        signal()
    }

    private func follow(_ batch: SpoolBatch, _ known: [SpoolRow]) async {
        do {
            try await ports.source.mirrorAgain(known)
            let count = try await ports.source.countRecreated(
                requests: batch.requests.compactMap(\.spoolRow) + batch.refused.map(\.row),
                credentials: batch.credentials.compactMap(\.spoolRow)
            )
            if count > 0 { monitor.tell(.recreatedRows(count: count)) }
        } catch {
            // The state is in failure and says so itself; the next rescan finds the rows again.
            work.withLock { $0.mustRescan = true }
        }
    }
}

// MARK: - Sweeps

extension SpoolService {
    /// Every ``SpoolLimits/sweepInterval`` when there is a reason.
    private func sweep() async {
        if monitor.isUnwritable {
            // A file that became writable again must be opened again.
            monitor.allowWriteRetry()
            database.close()
        }
        let now = ports.clock.uptime()
        let (isForced, isAllowed) = work.withLock { work in
            defer { work.mustRescan = false }
            return (work.mustRescan, now >= work.rescanAllowedAt)
        }
        if isForced || isAllowed { beginRescan(isForced: isForced) }
    }

    private func beginRescan(isForced: Bool) {
        let isNew = !database.isRescanning
        guard database.beginRescan(isForced: isForced) else { return }
        if isNew { ports.intake.rescanBegan() }
        let now = ports.clock.uptime()
        work.withLock { work in
            work.rescanStartedAt = work.rescanStartedAt ?? now
            work.rescanUnreadableCount = 0
        }
    }

    /// The next one may begin once this one was 1 % of the time.
    private func endRescan() {
        ports.intake.rescanEnded()
        let now = ports.clock.uptime()
        monitor.rescanned(unreadableCount: work.withLock { $0.rescanUnreadableCount })
        work.withLock { work in
            let cost = now - (work.rescanStartedAt ?? now)
            work.rescanStartedAt = nil
            work.rescanAllowedAt = now + cost * SpoolLimits.rescanShare
        }
    }
}

extension Submission {
    fileprivate var spoolRow: SpoolRow? {
        guard case .spool(let row) = origin else { return nil }
        return row
    }
}
