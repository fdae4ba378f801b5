import NIOCore
import Synchronization

/// Accepted connections that nobody serves yet.
///
/// The listener buffers them, and drops the buffer when it ends. NIO ends the process when a
/// wrapped channel is dropped that was neither read nor finished, so those that are left are
/// finished here.
final class UnservedStreams: Sendable {
    typealias Stream = NIOAsyncChannel<ServerRequest, ServerPart>

    private struct State {
        var streams: [ObjectIdentifier: Stream] = [:]
        var isOver = false
    }

    private let state = Mutex(State())

    /// Wraps a channel, on its event loop, and keeps it until it is served.
    ///
    /// - Throws: `ChannelError.eof` once ``finishAll()`` was called, and what wrapping throws.
    func wrap(_ channel: any Channel) throws -> Stream {
        try state.withLock { state in
            guard !state.isOver else { throw ChannelError.eof }
            let stream = try Stream(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: false)
            )
            state.streams[ObjectIdentifier(channel)] = stream
            return stream
        }
    }

    func beginServing(_ stream: Stream) {
        _ = state.withLock { $0.streams.removeValue(forKey: ObjectIdentifier(stream.channel)) }
    }

    /// Closes all that is left and refuses what comes later.
    func finishAll() async {
        let left = state.withLock { state in
            state.isOver = true
            defer { state.streams = [:] }
            return state.streams.values.map { $0 }
        }
        for stream in left {
            do {
                try await stream.executeThenClose { _, _ in }
            } catch {
                // Closed by the peer already; it is finished all the same.
            }
        }
    }
}
