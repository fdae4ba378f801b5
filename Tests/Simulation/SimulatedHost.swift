import Engine
import Lifecycle

/// One process, and the machine that it runs on.
struct SimulatedHost {
    var core: EngineCore
    var leases: HostLeases
    /// How far its clock is ahead of the true time.
    var skew = Duration.zero
    /// How much faster its monotonic clock runs, in parts of ten thousand.
    var drift: Int64 = 0
    /// The process stands still until then.
    var pausedUntil: WallTime?
    /// The process is gone, or has not started yet.
    var isDown = false
    /// It was stopped as it should be and does not come back by itself.
    var isStopped = false
    /// Its last end was a crash of its own.
    var isOwnCrash = false
    /// What the answers of an action are tagged with while it is performed.
    var tag: ReadNumber?
    /// What was left for owners when it last renewed.
    var mailSeen = 0

    init(core: EngineCore, seed: UInt64 = 0) {
        self.core = core
        leases = HostLeases(seed: seed)
    }
}

extension Simulator.Occurrence {
    /// Whether it changes leases alone, so that no invariant needs another look.
    var isOfLease: Bool {
        switch self {
        case .host(.call), .host(.answer), .host(.view), .perform(.readInbox), .input(.mailed): true
        default: false
        }
    }
}

/// What happens on one of several hosts.
enum HostOccurrence {
    /// The shell begins an effect, some time after the core's turn.
    case start(EngineAction, ReadNumber)
    /// An effect takes place in the world, and is answered.
    case perform(EngineAction, ReadNumber)
    case call(LeaseEffect)
    case answer(LeaseEvent)
    case gained([PartitionStart])
    case view(HostView)
    case boot
    /// A commit whose connection is gone takes effect after all.
    case land(Int)
}
