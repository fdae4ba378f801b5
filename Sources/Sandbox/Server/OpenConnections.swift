import NIOCore
import Synchronization

/// The connections that a shutdown has to close.
final class OpenConnections: Sendable {
    /// More than any benchmark opens; the ones beyond are closed at once.
    private static let maximum = 16_384

    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

    func add(_ channel: any Channel) {
        let identifier = ObjectIdentifier(channel)
        let isAdded = channels.withLock { channels in
            guard channels.count < Self.maximum else { return false }
            channels[identifier] = channel
            return true
        }
        guard isAdded else {
            channel.close(promise: nil)
            return
        }
        channel.closeFuture.whenComplete { [channels = self] _ in channels.remove(identifier) }
    }

    /// Closes every connection without waiting: a peer that is gone says no goodbye.
    func closeAll() {
        for channel in channels.withLock({ Array($0.values) }) {
            channel.close(promise: nil)
        }
    }

    private func remove(_ identifier: ObjectIdentifier) {
        channels.withLock { channels in channels[identifier] = nil }
    }
}
