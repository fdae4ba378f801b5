import AsyncHTTPClient
package import Control
import FoundationEssentials
package import Lifecycle
import NIOCore

extension ControlClient {
    /// Follows live changes until the stream or `body` ends.
    ///
    /// - Parameters:
    ///   - id: One request, or `nil` for everything.
    ///   - onOpen: Runs once the daemon has subscribed us, so that nothing after it is missed;
    ///     `false` ends the following at once.
    ///   - body: Receives each event; `false` ends the following.
    /// - Throws: ``ControlClientError`` when the stream cannot be opened or breaks.
    package func follow(
        _ id: RequestID?,
        onOpen: () async throws -> Bool = { true },
        _ body: (WireEvent) async throws -> Bool
    ) async throws {
        let call =
            id.map { Call(operation: .watchRequest, values: [$0.description]) }
            ?? Call(operation: .watchAll)
        // A stream lives as long as the request that it is about: days, if need be.
        let response = try await send(call, deadline: .distantFuture)
        guard try await onOpen() else { return }
        var parser = EventParser()
        do {
            for try await chunk in response.body {
                guard let events = parser.take(chunk.readableBytesView) else {
                    throw failure(.malformedAnswer)
                }
                for data in events {
                    guard try await body(try event(data)) else { return }
                }
            }
        } catch is HTTPClientError {
            throw failure(.unreachable)
        } catch is IOError {
            throw failure(.unreachable)
        }
    }

    private func event(_ data: [UInt8]) throws(ControlClientError) -> WireEvent {
        do {
            return try JSONDecoder().decode(WireEvent.self, from: Data(data))
        } catch {
            throw failure(.malformedAnswer)
        }
    }

    /// Waits until a request ends, across restarts of the daemon.
    ///
    /// - Parameters:
    ///   - id: The request.
    ///   - stopsWhenParked: Whether `parked` counts as an end.
    ///   - onChange: Hears of every state that was seen, the first one included.
    /// - Returns: The request in its last state.
    /// - Throws: ``ControlClientError`` when the daemon stays away for longer than
    ///   ``ClientLimits/reconnectTimeout``.
    package func waitForEnd(
        _ id: RequestID,
        stopsWhenParked: Bool = true,
        onChange: (WireRequest) -> Void = { _ in }
    ) async throws -> WireRequest {
        var lost: ContinuousClock.Instant?
        var delay = limits.retryDelayMin
        var latest: WireRequest?
        func isOver() async throws -> Bool {
            let request = try await show(id)
            (lost, delay) = (nil, limits.retryDelayMin)
            if latest?.state != request.state || latest?.detail != request.detail {
                onChange(request)
            }
            latest = request
            return request.hasEnded(stopsWhenParked: stopsWhenParked)
        }
        while true {
            do {
                try await follow(
                    id,
                    onOpen: { try await !isOver() },
                    { event in
                        guard event.kind == .known(.request) else { return true }
                        return try await !isOver()
                    }
                )
            } catch let error as ControlClientError where error.isPassing {
                let since = lost ?? .now
                lost = since
                guard since.duration(to: .now) + delay <= limits.reconnectTimeout else {
                    throw error
                }
            }
            if let latest, latest.hasEnded(stopsWhenParked: stopsWhenParked) { return latest }
            try await pause(delay)
            delay = min(delay * 2, limits.retryDelayMax)
        }
    }
}

extension WireRequest {
    /// Whether nothing more happens to the request by itself.
    func hasEnded(stopsWhenParked: Bool) -> Bool {
        switch state.known {
        case .completed, .rejected, .cancelled: true
        case .parked: stopsWhenParked
        case .submitted, .accepted, .scheduled, .revoking, .purging, .verifying, nil: false
        }
    }
}
