import Control
import NIOCore
import Synchronization

/// The open connections of one socket, counted by uid before anything is read.
///
/// Each socket has its own, so that applications cannot use up what operators need.
final class ConnectionRegistry: Sendable {
    /// What becomes of a new connection.
    enum Admission {
        case welcome
        /// It may read why, and is closed then.
        case refused(ControlProblem)
        /// It is closed at once: too many refused ones are still open.
        case dropped
    }

    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var countByUID: [UInt32: Int] = [:]
        var refusedCount = 0
        var isDraining = false

        func count(besides uid: UInt32) -> Int { channels.count - countByUID[uid, default: 0] }
    }

    private static let root: UInt32 = 0

    private let limits: ServerLimits
    private let state = Mutex(State())

    init(limits: ServerLimits) {
        self.limits = limits
    }

    /// Counts a new connection until it closes.
    func admit(_ channel: any Channel, uid: UInt32) -> Admission {
        let admission = state.withLock { state -> Admission in
            guard let problem = refusal(of: uid, state) else {
                state.countByUID[uid, default: 0] += 1
                state.channels[ObjectIdentifier(channel)] = channel
                return .welcome
            }
            guard state.refusedCount < limits.refusedMax else { return .dropped }
            state.refusedCount += 1
            return .refused(problem)
        }
        switch admission {
        case .welcome: channel.closeFuture.whenComplete { [self] _ in forget(channel, uid) }
        case .refused:
            channel.closeFuture.whenComplete { [self] _ in
                state.withLock { $0.refusedCount -= 1 }
            }
        case .dropped: break
        }
        return admission
    }

    private func refusal(of uid: UInt32, _ state: State) -> ControlProblem? {
        // 65534 is what the kernel shows for a uid outside our user namespace: anybody.
        if uid == 65_534 { return ControlProblem(.forbidden) }
        let isRoot = uid == Self.root
        let hasRoom =
            state.countByUID[uid, default: 0] < limits.connectionsPerUIDMax
            && state.channels.count < limits.connectionsMax
            && (isRoot || state.count(besides: Self.root) < limits.sharedConnectionsMax)
        return hasRoom ? nil : ControlProblem(.tooManyConnections)
    }

    private func forget(_ channel: any Channel, _ uid: UInt32) {
        state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = nil
            let count = state.countByUID[uid, default: 1] - 1
            state.countByUID[uid] = count == 0 ? nil : count
        }
    }

    /// Whether connections are told to finish; one that is admitted later must be told by itself.
    var isDraining: Bool { state.withLock(\.isDraining) }

    var count: Int { state.withLock(\.channels.count) }

    /// Tells every connection to finish.
    func drain() {
        let channels = state.withLock { state in
            state.isDraining = true
            return Array(state.channels.values)
        }
        for channel in channels {
            channel.pipeline.fireUserInboundEventTriggered(DrainEvent())
        }
    }

    func closeAll() {
        for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
    }
}
