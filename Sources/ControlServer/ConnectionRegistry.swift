import Control
import NIOCore
import Synchronization

/// The open connections: counted by uid before anything is read, and reachable for the shutdown.
final class ConnectionRegistry: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var countByUID: [UInt32: Int] = [:]
        var isDraining = false
    }

    private let limits: ServerLimits
    private let state = Mutex(State())

    init(limits: ServerLimits) {
        self.limits = limits
    }

    /// Counts a new connection until it closes.
    ///
    /// - Returns: Why it must be refused; `nil` when it is welcome. A refused one is not counted.
    func admit(_ channel: any Channel, uid: UInt32) -> ControlProblem? {
        // 65534 is what the kernel shows for a uid outside our user namespace: anybody.
        guard uid != 65_534 else { return ControlProblem(.forbidden) }
        let problem = state.withLock { state -> ControlProblem? in
            guard !state.isDraining else { return ControlProblem(.unavailable) }
            let count = state.countByUID[uid, default: 0]
            guard count < limits.connectionsPerUIDMax,
                state.channels.count < limits.connectionsMax
            else { return ControlProblem(.tooManyConnections) }
            state.countByUID[uid] = count + 1
            state.channels[ObjectIdentifier(channel)] = channel
            return nil
        }
        guard problem == nil else { return problem }
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { state in
                state.channels[ObjectIdentifier(channel)] = nil
                let count = state.countByUID[uid, default: 1] - 1
                state.countByUID[uid] = count == 0 ? nil : count
            }
        }
        return nil
    }

    /// How many connections are open.
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

    /// Cuts every connection.
    func closeAll() {
        for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
    }
}
