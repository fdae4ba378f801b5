import Control
import Engine
import Lifecycle
import Logging

/// Turns what the engine did into journal entries, live events and work for the spool's mirror.
struct Reporter: EngineObserver {
    let logger: Logger
    let hub: EventHub
    let now: @Sendable () -> WallTime
    /// Called when a request changed, so that its spool row is mirrored.
    let nudgeMirror: @Sendable () -> Void
    var tokens = TokenTally()

    func changed(_ request: Request) {
        nudgeMirror()
        hub.tell(about: request.id) { sequence in
            var event = WireEvent(
                sequence: sequence,
                kind: .request,
                at: now(),
                requestID: request.id
            )
            event.state = request.phase.wireState.rawValue
            event.detail = request.phase.parkReason?.rawValue ?? request.endDetail
            return event
        }
    }

    func announced(_ announcement: Announcement, of id: RequestID) {
        var facts: Logger.Metadata = ["request.id": "\(id)"]
        switch announcement {
        case .parked(.quarantined):
            logger.note(.requestQuarantined, facts)
        case .parked(let reason):
            facts["detail"] = "\(reason.rawValue)"
            logger.note(.requestParked, facts)
        case .resumed:
            logger.note(.requestReleased, facts)
        case .verdict(let provider, let verdict):
            note(verdict, at: provider, of: id)
        case .sealBroken(let provider):
            facts["provider"] = "\(provider)"
            facts["error"] = "seal_broken"
            logger.note(.notRevoked, facts)
        case .vaultKeyMissing(let provider):
            facts["provider"] = "\(provider)"
            facts["error"] = "unknown_vault_key"
            logger.note(.vaultSealed, facts)
        case .approved:
            logger.note(.requestApproved, facts)
        case .planChanged:
            logger.note(.planChanged, facts)
        case .purgeStarted:
            logger.note(.purgeStarted, facts)
        case .remainingRows(let target):
            facts["target"] = "\(target)"
            logger.note(.rowsRemaining, facts)
        case .completed:
            facts["state"] = "completed"
            logger.note(.requestCompleted, facts)
        case .cancelled:
            logger.note(.requestCancelled, facts)
        case .abandoned:
            logger.note(.requestAbandoned, facts)
        }
    }

    private func note(_ verdict: Verdict, at provider: ProviderName, of id: RequestID) {
        let facts: Logger.Metadata = [
            "request.id": "\(id)", "provider": "\(provider)", "verdict": "\(verdict.rawValue)",
        ]
        logger.note(.revocationVerdict, facts)
        if !verdict.isRevoked { logger.note(.notRevoked, facts) }
        hub.tell(about: id) { sequence in
            var event = WireEvent(sequence: sequence, kind: .identity, at: now(), requestID: id)
            event.provider = provider.rawValue
            event.verdict = .known(verdict)
            return event
        }
    }

    func reported(_ report: EngineReport) {
        switch report {
        case .providerPaused(let name, let reason):
            logger.note(.providerPaused, ["provider": "\(name)", "error": "\(reason)"])
        case .providerResumed(let name):
            logger.note(.providerResumed, ["provider": "\(name)"])
        case .targetPaused(let name, let reason):
            logger.note(.targetPaused, ["target": "\(name)", "error": "\(reason)"])
        case .targetResumed(let name):
            logger.note(.targetResumed, ["target": "\(name)"])
        case .breakerOpened(let name, let pause):
            logger.note(
                .breakerOpened,
                ["provider": "\(name)", "duration_ms": "\(pause.milliseconds)"]
            )
        case .breakerClosed(let name):
            logger.note(.breakerClosed, ["provider": "\(name)"])
        case .guardTripped:
            logger.note(.guardTripped)
        case .subjectMismatch(let name):
            logger.note(.subjectMismatch, ["provider": "\(name)"])
        case .codeLost(let name, let phase):
            logger.note(.codeExpired, ["provider": "\(name)", "detail": "\(phase.rawValue)"])
        case .tokenRotated(let name):
            tokens.countRotation(at: name)
        case .tokenRenewed(let name, let result):
            tokens.countRenewal(at: name, result)
        case .tokensExpiring(let name, let count):
            logger.note(.tokensExpiring, ["provider": "\(name)", "count": "\(count)"])
        }
    }
}
