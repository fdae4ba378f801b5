import Control
import ControlServer
import Engine
import Ledger
import Lifecycle
import Logging
import Providers
import Settings
import Storage
import Stores
import Vault

extension DaemonBackend {
    /// An override that nobody used within the guard's own hour was a mistake.
    private static let overrideLifetime = Duration.seconds(3600)

    func setIntake(isPaused: Bool, caller: Caller) async throws(ControlProblem) -> WireStatus {
        try await attempt("pause_intake") { try await parts.intake.setPaused(isPaused) }
        audit(isPaused ? "pause_intake" : "resume_intake", caller)
        return try await status(caller: caller)
    }

    /// Allows `count` purges beyond the limit, or as many as wait.
    ///
    /// Parked requests wait for an override even after the hour, so they count as closed.
    func overrideGuard(
        _ input: OverrideInput,
        caller: Caller
    ) async throws(ControlProblem) -> WireGuard {
        let counts = try await counts()
        let now = parts.now()
        let waiting = counts.byParkReason[.massDeletionGuard] ?? 0
        let before = parts.engine.inspect { $0.guardHealth(at: now) }
        guard before.isClosed || waiting > 0 else {
            throw ControlProblem(.wrongState, "the mass-deletion guard is open")
        }
        let purges = input.count ?? waiting
        guard purges > 0 else {
            throw ControlProblem(.wrongState, "no deletion waits for it; name a count")
        }
        let (uid, until) = (caller.actorUID, now + Self.overrideLifetime)
        try await attempt("override_guard") {
            try await parts.state.addGuardOverride(count: purges, until: until, uid: uid, at: now)
        }
        parts.engine.post(.guardOverride(purges: purges, until: until))
        await parts.engine.probe()
        parts.logger.note(.guardOverridden, ["count": "\(purges)", "operator.uid": "\(uid)"])
        return guardState(counts)
    }

    func reload(caller: Caller) async throws(ControlProblem) -> ReloadResult {
        let result = try await parts.reload()
        audit("reload", caller)
        return result
    }

    func health(caller: Caller) async throws(ControlProblem) -> WireServiceHealth {
        WireServiceHealth(
            version: parts.version,
            isIntakePaused: parts.intake.isPaused,
            isVaultSealed: !parts.vault.isOpen
        )
    }

    func status(caller: Caller) async throws(ControlProblem) -> WireStatus {
        let counts = try await counts()
        var status = WireStatus(
            version: parts.version,
            state: .running,
            startedAt: parts.startedAt,
            guardState: guardState(counts)
        )
        status.isIntakePaused = parts.intake.isPaused
        status.isVaultSealed = !parts.vault.isOpen
        for (state, count) in counts.byState { status.requests[state.rawValue] = count }
        for (reason, count) in counts.byParkReason { status.parked[reason.rawValue] = count }
        status.oldestOpenAt = counts.oldestAcceptedAt
        status.oldestOpenID = counts.oldestID
        status.refusedReload = parts.refusedReload()
        var alarms = self.alarms(status)
        if let alarm = await parts.ledger.health.alarm { alarms.append(alarm) }
        if await parts.ledger.failure != nil { alarms.append(.ledgerUnwritable) }
        if try await !expiringTokens().isEmpty { alarms.append(.tokensExpiring) }
        let returned = try await returnedRechecks()
        if returned > 0 || parts.rechecks.isSampleFound { alarms.append(.dataReturned) }
        if !counts.blocked.isEmpty { alarms.append(.purgeBlocked) }
        if !parts.rechecks.overdue.isEmpty { alarms.append(.recheckOverdue) }
        if !parts.messages.failing.isEmpty { alarms.append(.messagesFailing) }
        let now = parts.now()
        if let next = try await nextDeadline(), next <= now + DeadlineWatch.warning {
            alarms.append(next <= now ? .deadlinePassed : .deadlineNear)
        }
        status.alarms = alarms.map(\.code)
        return status
    }

    func metrics(caller: Caller) async throws(ControlProblem) -> String {
        let counts = try await counts()
        let configuration = parts.registry.current.configuration
        let now = parts.now()
        var providers: [ProviderName: LaneHealth] = [:]
        for name in configuration.providers.map(\.name) {
            providers[name] = parts.engine.inspect { $0.laneHealth(name) }
        }
        var stores: [StoreName: StoreHealth] = [:]
        for name in configuration.stores.map(\.name) {
            stores[name] = parts.engine.inspect { $0.storeHealth(name) }
        }
        return Metrics(
            parts: parts,
            now: now,
            counts: counts,
            nextDeadline: try await nextDeadline(),
            providers: providers,
            stores: stores,
            messages: try await attempt("status") { try await parts.state.messageQueues() },
            expiringTokens: try await expiringTokens(),
            returnedRechecks: try await returnedRechecks(),
            measurements: parts.measurements.values,
            ledgerCoveredCount: await parts.ledger.last?.checkpoint.size ?? 0,
            isLedgerSound: await parts.ledger.health == .sound
        ).text
    }

    private func nextDeadline() async throws(ControlProblem) -> WallTime? {
        try await attempt("status") {
            try await parts.state.deadlines(before: .distantFuture, limit: 1).first?.deadlineAt
        }
    }

    private func counts() async throws(ControlProblem) -> RequestCounts {
        try await attempt("status") { try await parts.state.requestCounts() }
    }

    private func expiringTokens() async throws(ControlProblem) -> [ProviderName: Int] {
        try await attempt("status") { try await parts.state.expiringTokens() }
    }

    private func returnedRechecks() async throws(ControlProblem) -> Int {
        try await attempt("status") { try await parts.state.returnedRecheckCount() }
    }

    private func guardState(_ counts: RequestCounts) -> WireGuard {
        let now = parts.now()
        let health = parts.engine.inspect { $0.guardHealth(at: now) }
        var state = WireGuard(
            isOpen: !health.isClosed,
            deletionsLastHour: health.purgesLastHour,
            deletionsPerHourMax: health.purgesPerHourMax,
            waiting: counts.byParkReason[.massDeletionGuard] ?? 0
        )
        if health.overrideRemaining > 0 {
            state.overrideRemaining = health.overrideRemaining
            state.overrideExpiresAt = health.overrideUntil
        }
        return state
    }

    private func alarms(_ status: WireStatus) -> [StatusAlarm] {
        let configuration = parts.registry.current.configuration
        let lanes = Self.lanes(of: configuration).compactMap { lane in
            parts.engine.inspect { $0.laneHealth(lane.name) }
        }
        let now = parts.now()
        let isBroken = lanes.contains {
            $0.breaker != .closed || $0.outage?.isKnown(at: now) == true
                || !$0.unconfiguredClients.isEmpty
        }
        let providers = parts.registry.current.providers.values
        let isRefusing = providers.contains { !$0.refusedClients.isEmpty }
        let isLacking = status.parked[ParkReason.unknownProvider.rawValue] ?? 0 > 0
        let stores = configuration.stores.compactMap { store in
            parts.engine.inspect { $0.storeHealth(store.name) }
        }
        let isHidden = configuration.requests.approval == .required && !PeerLogin.isReadable
        let isGuarded = !status.guardState.isOpen || status.guardState.waiting > 0
        let quarantined = status.parked[ParkReason.quarantined.rawValue] ?? 0
        let (spool, queues) = (parts.spoolHealth(), parts.queueHealth().values)
        let alarms: [(StatusAlarm, Bool)] = [
            (.vaultSealed, status.isVaultSealed),
            (.configurationRefused, status.refusedReload != nil),
            (.intakePaused, status.isIntakePaused),
            (.massDeletionGuard, isGuarded),
            (.providerPaused, lanes.contains(where: \.isPaused)),
            (.providerBroken, isBroken || isRefusing || isLacking),
            (.storePaused, stores.contains(where: \.isPaused)),
            (.storeStuck, stores.contains { $0.stuckSince != nil }),
            (.requestQuarantined, quarantined > 0),
            (.operatorsHidden, isHidden),
            (.clockStepped, parts.clock?.hasStepped ?? false),
            (.clockBehind, parts.engine.inspect { $0.isClockBehind }),
            (.credentialNotSealed, parts.credentials.failures.isAny),
            (.spoolQuarantined, spool.quarantine != nil),
            (.spoolUnwritable, spool.writeFailure != nil),
            (.spoolInWAL, spool.isWAL),
            (.spoolForeignObjects, spool.foreignCount > 0),
            (.spoolUnreadableRows, spool.unreadableCount > 0),
            (.queueQuarantined, queues.contains { $0.quarantine != nil }),
            (.queueUnwritable, queues.contains { $0.writeFailure != nil }),
        ]
        return alarms.filter(\.1).map(\.0)
    }

    func vault(caller: Caller) async throws(ControlProblem) -> WireVault {
        let use = try await attempt("vault") { try await parts.state.vaultKeyUse() }
        var answer = WireVault(
            isSealed: !parts.vault.isOpen,
            activeKeyID: parts.vault.activeKeyID,
            rotation: rotation()
        )
        answer.wraps = Int(clamping: parts.vault.wrapCount)
        answer.wrapsMax = Int(clamping: SealedVault.wrapCountMax)
        let ids = Set(parts.vault.keyIDs).union(use.keys)
        answer.keys = ids.sorted().map { id in
            WireVaultKey(id: id, state: keyState(id), users: use[id] ?? 0)
        }
        return answer
    }

    func rotateVault(caller: Caller) async throws(ControlProblem) -> WireVault {
        try await requireSteward()
        try await attempt("rotate_vault") { try await parts.rotation.begin() }
        audit("rotate_vault", caller)
        return try await vault(caller: caller)
    }

    private func keyState(_ id: String) -> VaultKeyState {
        if id == parts.vault.activeKeyID { return .active }
        return parts.vault.keyIDs.contains(id) ? .retired : .missing
    }

    private func rotation() -> WireKeyRotation {
        let progress = parts.rotation.progress
        var answer = WireKeyRotation(state: progress.state)
        answer.rewrapped = progress.rewrapped
        answer.unreadable = progress.unreadable
        answer.startedAt = progress.startedAt
        answer.endedAt = progress.endedAt
        answer.error = progress.error?.rawValue
        return answer
    }

    /// Entries on one page: at most about half a megabyte.
    private static let ledgerPageMax = 1000

    func replay(caller: Caller) async throws(ControlProblem) -> WireReplay { parts.replay.progress }

    func startReplay(
        _ input: ReplayTerms,
        caller: Caller
    ) async throws(ControlProblem) -> WireReplay {
        try await requireSteward()
        try parts.replay.begin(input)
        audit("start_replay", caller, input.store.map { ["store": "\($0)"] } ?? [:])
        return parts.replay.progress
    }

    func ledger(caller: Caller) async throws(ControlProblem) -> WireLedger {
        let health = await parts.ledger.health
        var answer = WireLedger(
            key: parts.ledger.key.description,
            state: LedgerState(rawValue: health.code) ?? .damaged,
            entries: parts.state.ledgerSize
        )
        if let last = await parts.ledger.last {
            answer.covered = last.checkpoint.size
            answer.checkpoint = last.note
            answer.checkpointAt = last.checkpoint.time
        }
        return answer
    }

    func verifyLedger(caller: Caller) async throws(ControlProblem) -> WireLedger {
        let audit = try await attempt("verify_ledger") { try await parts.ledger.verify().audit }
        var answer = WireLedger(
            key: audit.key.description,
            state: audit.findingCount == 0 ? .sound : .damaged,
            entries: audit.frontier.size
        )
        if audit.unexplainedCount > 0 {
            parts.logger.note(.ledgerDamaged, ["count": "\(audit.unexplainedCount)"])
        } else if case .rolledBack = await parts.ledger.health {
            answer.state = .known(.rolledBack)
        }
        answer.covered = audit.covered?.size ?? 0
        answer.checkpointAt = audit.covered?.time
        answer.checkpoints = audit.checkpointCount
        answer.findings = audit.findings.map {
            WireLedgerFinding(kind: $0.kind.rawValue, position: $0.position)
        }
        answer.findingCount = audit.findingCount
        self.audit("verify_ledger", caller, ["count": "\(audit.findingCount)"])
        return answer
    }

    func ledgerEntries(
        from index: Int,
        caller: Caller
    ) async throws(ControlProblem) -> WireLedgerEntries {
        let (rows, size) = try await attempt("ledger") {
            let size = try await parts.ledger.sizeToExport(from: index)
            return (try await parts.state.ledgerRows(from: index), size)
        }
        let countMax = max(0, min(Self.ledgerPageMax, size - index))
        var entries: [String] = []
        for row in rows where entries.count < countMax {
            let rest = row.leaves.dropFirst(max(0, index - row.first))
            entries += rest.prefix(countMax - entries.count).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        let next = index + entries.count
        return WireLedgerEntries(
            from: index,
            entries: entries,
            next: entries.isEmpty || next >= size ? nil : next
        )
    }

    func acceptRollback(caller: Caller) async throws(ControlProblem) -> WireLedger {
        let isBehind = parts.engine.inspect { $0.isClockBehind }
        let isSound = await parts.ledger.health == .sound
        guard !isSound || isBehind else {
            throw ControlProblem(.wrongState, "the ledger agrees with its checkpoints")
        }
        if isBehind {
            try await attempt("accept_rollback") { try await parts.clock?.forgive() }
            parts.engine.post(.clockFloor(.distantPast))
        }
        if !isSound {
            let uid = caller.actorUID
            try await attempt("accept_rollback") { try await parts.ledger.accept(uid: uid) }
            parts.engine.post(.restraintLifted)
        }
        await parts.engine.probe()
        // Of what it accepted, the ledger has written the entry.
        if isSound { audit("accept_rollback", caller) }
        return try await ledger(caller: caller)
    }
}

/// What an operator should look at: a row in `docs/guides/monitoring.md`.
enum StatusAlarm: String, Sendable, CaseIterable {
    case vaultSealed, configurationRefused, intakePaused, deadlineNear, deadlinePassed
    case massDeletionGuard, providerPaused, providerBroken, storePaused, storeStuck
    case requestQuarantined, operatorsHidden, clockStepped, clockBehind, credentialNotSealed
    case spoolQuarantined, spoolUnwritable, spoolInWAL, spoolForeignObjects, spoolUnreadableRows
    case queueQuarantined, queueUnwritable, stateRolledBack, ledgerDamaged, ledgerUnwritable
    case tokensExpiring, dataReturned, purgeBlocked, recheckOverdue, messagesFailing

    var code: String { rawValue.snakeCased }
}
