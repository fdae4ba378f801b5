import Control
import Engine
import Lifecycle
import Logging
import Systemd

/// Turns what the engine did into journal entries, live events and work for the spool's mirror.
struct Reporter: EngineObserver {
    let logger: Logger
    let hub: EventHub
    let now: @Sendable () -> WallTime
    let signalMirror: @Sendable () -> Void
    var paused = Signal()
    var tokens = TokenCounter()
    var measurements = Measurements()

    func changed(_ request: Request) {
        signalMirror()
        if request.phase == .completed, request.kind == .deleteAccount {
            let end = request.endedAt ?? now()
            measurements.erased(after: end.since(request.acceptedAt))
        }
        let detail = request.phase.parkReason?.rawValue ?? request.endDetail
        let fact = LiveChange.Fact.request(request.phase.state, detail: detail)
        hub.tell(LiveChange(request: request.id, at: now(), fact: fact))
    }

    func announced(_ announcement: Announcement, of id: RequestID) {
        switch announcement {
        case .parked(.quarantined, _, _): note(.requestQuarantined, of: id)
        case .parked(.providerPaused, _, _), .parked(.targetPaused, _, _),
            .parked(.massDeletionGuard, _, _), .parked(.clockBehind, _, _):
            // One entry on what they wait for stands for all.
            break
        case .parked(let reason, let provider, let answer):
            var facts: Logger.Metadata = ["detail": "\(reason.rawValue)"]
            if let provider { facts["provider"] = "\(provider)" }
            if let answer { facts["error"] = "\(answer.text)" }
            note(.requestParked, of: id, facts)
        case .resumed: note(.requestReleased, of: id)
        case .verdict(let provider, let verdict, let calls):
            measurements.decided(verdict, at: provider)
            note(verdict, at: provider, of: id, calls: calls)
        case .sealBroken(let provider):
            note(.notRevoked, of: id, ["provider": "\(provider)", "error": "seal_broken"])
        case .vaultKeyMissing(let provider):
            note(.vaultSealed, of: id, ["provider": "\(provider)", "error": "unknown_vault_key"])
        case .approved: note(.requestApproved, of: id)
        case .planChanged: note(.planChanged, of: id)
        case .purgeStarted: note(.purgeStarted, of: id)
        case .remainingRows(let target): note(.rowsRemaining, of: id, ["target": "\(target)"])
        case .blocked(let target, let obstacle):
            var facts: Logger.Metadata = ["target": "\(target)", "detail": "\(obstacle.text)"]
            facts["error"] = "\(obstacle.kind.rawValue)"
            note(.purgeBlocked, of: id, facts)
        case .completed: note(.requestCompleted, of: id, ["state": "completed"])
        case .nothingErased: note(.nothingErased, of: id)
        case .cancelled: note(.requestCancelled, of: id)
        case .abandoned: note(.requestAbandoned, of: id)
        }
    }

    private func note(
        _ event: JournalEvent,
        of id: RequestID,
        _ facts: @autoclosure () -> Logger.Metadata = [:]
    ) {
        logger.note(event, facts().merging(["request.id": "\(id)"]) { _, id in id })
    }

    private func note(_ verdict: Verdict, at provider: ProviderName, of id: RequestID, calls: Int) {
        // Made only for a level that is read: each request has a verdict.
        func facts() -> Logger.Metadata {
            var facts: Logger.Metadata = [
                "provider": "\(provider)", "verdict": "\(verdict.rawValue)",
            ]
            if calls > 0 { facts["attempt"] = "\(calls)" }
            return facts
        }
        note(.revocationVerdict, of: id, facts())
        if verdict.mayLeaveLink { note(.notRevoked, of: id, facts()) }
        hub.tell(LiveChange(request: id, at: now(), fact: .verdict(verdict, provider)))
    }

    func reported(_ report: EngineReport) {
        switch report {
        case .providerPaused(_, PauseReason.byOperator), .targetPaused(_, PauseReason.byOperator):
            // `operatorAction` has it, at its own level.
            paused.fire()
        case .providerPaused(let name, let reason):
            logger.note(.providerPaused, ["provider": "\(name)", "error": "\(reason)"])
            paused.fire()
        case .providerResumed(let name): logger.note(.providerResumed, ["provider": "\(name)"])
        case .targetPaused(let name, let reason):
            logger.note(.targetPaused, ["target": "\(name)", "error": "\(reason)"])
            paused.fire()
        case .targetResumed(let name): logger.note(.targetResumed, ["target": "\(name)"])
        case .outageBegan(let name, let reason):
            logger.note(.outageBegan, ["provider": "\(name)", "error": "\(reason)"])
        case .outageEnded(let name, let client):
            var facts: Logger.Metadata = ["provider": "\(name)"]
            if let client { facts["detail"] = "\(client)" }
            logger.note(.outageEnded, facts)
        case .targetStuck(let name, let reason):
            logger.note(.targetStuck, ["target": "\(name)", "error": "\(reason)"])
        case .targetGoesOn(let name): logger.note(.targetGoesOn, ["target": "\(name)"])
        case .guardTripped: logger.note(.guardTripped)
        case .subjectMismatch(let name): logger.note(.subjectMismatch, ["provider": "\(name)"])
        case .codeLost(let name, let phase, let answer):
            var facts: Logger.Metadata = ["provider": "\(name)", "detail": "\(phase.rawValue)"]
            if let answer { facts["error"] = "\(answer.text)" }
            logger.note(.codeExpired, facts)
        case .tokenRotated(let name): tokens.rotations.count(name)
        case .tokenRenewed(let name, let result):
            tokens.renewals.count(TokenCounter.Renewal(provider: name, result: result))
        case .tokensExpiring(let name, let count):
            logger.note(.tokensExpiring, ["provider": "\(name)", "count": "\(count)"])
        case .spoolNotRead(let count): logger.note(.spoolNotRead, ["count": "\(count)"])
        case .clockBehind: logger.note(.clockBehind)
        case .called(let name, let failure, let duration):
            measurements.called(name, failure, duration)
        case .purged(let name, let answers, let duration):
            measurements.purged(name, answers, duration)
        }
    }
}

extension Logger {
    /// Writes one event of the catalog.
    ///
    /// `facts` are fields of the closed list, never secret; not made below the log level.
    func note(_ event: JournalEvent, _ facts: @autoclosure () -> Metadata = [:]) {
        let level = Level(event.severity)
        guard level >= logLevel else { return }
        var metadata = facts()
        metadata["event"] = "\(event.rawValue)"
        log(level: level, "\(event.name)", metadata: metadata)
    }
}
