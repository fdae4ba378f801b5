import Lifecycle

/// Which phases runs were in, and what they asked for.
///
/// A case that is added to the machine has no name here, so this does not compile until it has one;
/// then the tests fail until a scenario reaches it.
struct RunCoverage: Sendable {
    enum Phase: CaseIterable {
        case idle, checkingLedger, learning, findingOpen, restoring, openingCopy, checkingCopy
        case loading, findingLate, listing, findingBegun, endingBegun, checkingHolds, noting
        case purging, verifying, rechecking, waiting, recording, forgetting, closing, returned
        case sampled, ended
    }

    enum Effect: CaseIterable {
        case openCopy, wait
        // In the state.
        case readAlarm, learnTombstones, findOpen, restore, loadTombstones, loadDue, findLate
        case findBegun, readHolds, note, record, forgetLate, close, reopen, recordSample
        // In a store, and how it is seen.
        case check, list, purge, verify
        case usual, own, led, copy
        // To the operator.
        case replayBegan, replayEnded, rechecked, reopened, sampled, unsearched, answered, overdue
    }

    private var phases: Set<Phase> = []
    private var effects: Set<Effect> = []

    mutating func note(_ phase: RecheckPhase, _ effects: [RecheckEffect] = []) {
        phases.insert(phase.name)
        for effect in effects {
            if case .store(_, let view, _) = effect { self.effects.insert(view.name) }
            self.effects.insert(effect.name)
        }
    }

    /// Adds another run's.
    mutating func merge(_ other: RunCoverage) {
        phases.formUnion(other.phases)
        effects.formUnion(other.effects)
    }

    var missingPhases: [Phase] { Phase.allCases.filter { !phases.contains($0) } }

    var missingEffects: [Effect] { Effect.allCases.filter { !effects.contains($0) } }
}

extension RecheckPhase {
    fileprivate var name: RunCoverage.Phase {
        switch self {
        case .idle: .idle
        case .checkingLedger: .checkingLedger
        case .learning: .learning
        case .findingOpen: .findingOpen
        case .restoring: .restoring
        case .openingCopy: .openingCopy
        case .checkingCopy: .checkingCopy
        case .loading: .loading
        case .findingLate: .findingLate
        case .listing: .listing
        case .findingBegun: .findingBegun
        case .endingBegun: .endingBegun
        case .checkingHolds: .checkingHolds
        case .noting: .noting
        case .purging: .purging
        case .verifying: .verifying
        case .rechecking: .rechecking
        case .waiting: .waiting
        case .recording: .recording
        case .forgetting: .forgetting
        case .closing: .closing
        case .reopening(.returned): .returned
        case .reopening(.sampled): .sampled
        case .ended: .ended
        }
    }
}

extension RecheckEffect {
    fileprivate var name: RunCoverage.Effect {
        switch self {
        case .openCopy: .openCopy
        case .wait: .wait
        case .state(let effect): effect.name
        case .store(_, _, .check): .check
        case .store(_, _, .list): .list
        case .store(_, _, .purge): .purge
        case .store(_, _, .verify): .verify
        case .announce(let announcement): announcement.name
        }
    }
}

extension RecheckStateEffect {
    fileprivate var name: RunCoverage.Effect {
        switch self {
        case .readAlarm: .readAlarm
        case .learnTombstones: .learnTombstones
        case .findOpen: .findOpen
        case .restore: .restore
        case .loadTombstones: .loadTombstones
        case .loadDue: .loadDue
        case .findLate: .findLate
        case .findBegun: .findBegun
        case .readHolds: .readHolds
        case .note: .note
        case .record: .record
        case .forgetLate: .forgetLate
        case .close: .close
        case .reopen: .reopen
        case .recordSample: .recordSample
        }
    }
}

extension StoreView {
    fileprivate var name: RunCoverage.Effect {
        switch self {
        case .usual: .usual
        case .own: .own
        case .led: .led
        case .copy: .copy
        }
    }
}

extension RecheckAnnouncement {
    fileprivate var name: RunCoverage.Effect {
        switch self {
        case .replayBegan: .replayBegan
        case .replayEnded: .replayEnded
        case .rechecked: .rechecked
        case .reopened: .reopened
        case .sampled: .sampled
        case .unsearched: .unsearched
        case .answered: .answered
        case .overdue: .overdue
        }
    }
}
