import AsyncHTTPClient
package import Control
package import Lifecycle
import NIOCore

extension ControlClient {
    /// Follows live changes of one request, or of everything, until the stream ends or a closure
    /// returns `false`.
    ///
    /// `onOpen` runs once the service has subscribed us, so that nothing after it is missed.
    ///
    /// - Throws: ``ControlClientError`` when the stream cannot be opened or breaks.
    package func follow(
        _ id: RequestID?,
        onOpen: () async throws -> Bool = { true },
        _ body: (WireEvent) async throws -> Bool
    ) async throws {
        let call = ControlCall.watch(id)
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
                    let event: WireEvent
                    do { event = try call.read(data) } catch { throw failure(.malformedAnswer) }
                    guard try await body(event) else { return }
                }
            }
        } catch  where error is HTTPClientError || error is IOError {
            throw failure(.unreachable)
        }
    }

    /// Waits until a request ends, across restarts of the daemon.
    ///
    /// `parked` counts as an end. `onChange` receives the request whenever it differs from the last
    /// one that was seen, and at first.
    ///
    /// - Throws: ``ControlClientError`` when the service is unreachable for longer than
    ///   ``ClientLimits/reconnectTimeout``.
    package func waitForEnd(
        _ id: RequestID,
        onChange: (WireRequest) -> Void = { _ in }
    ) async throws -> WireRequest {
        var lost: ContinuousClock.Instant?
        var failures = 0
        var latest: WireRequest?
        func isOver() async throws -> Bool {
            let request = try await call(.show(id))
            (lost, failures) = (nil, 0)
            if latest != request { onChange(request) }
            latest = request
            return request.hasEnded
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
                let delay = RetryPolicy.restart.delay(failures: failures + 1)
                guard since.duration(to: .now) + delay <= limits.reconnectTimeout else {
                    throw error
                }
            }
            if let latest, latest.hasEnded { return latest }
            failures += 1
            try await pause(RetryPolicy.restart.delay(failures: failures))
        }
    }
}

extension WireRequest {
    /// Whether nothing more happens to the request by itself.
    var hasEnded: Bool {
        switch state.known {
        case .completed, .rejected, .cancelled, .parked: true
        case .submitted, .accepted, .scheduled, .revoking, .purging, .verifying, nil: false
        }
    }
}

/// Takes server-sent events apart
/// (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream).
///
/// Only `data` matters: each event carries its kind and sequence inside its JSON.
struct EventParser {
    /// The longest line, in bytes; an event of ours has less than one kilobyte.
    static let lineByteCountMax = 64 * 1024

    private var line: [UInt8] = []
    private var data: [UInt8] = []

    /// Takes the next bytes, cut anywhere, and returns the data of each event that is complete;
    /// `nil` when a line is too long.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [[UInt8]]? {
        var events: [[UInt8]] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                guard line.count < Self.lineByteCountMax else { return nil }
                line.append(byte)
                continue
            }
            endLine(&events)
        }
        return events
    }

    private mutating func endLine(_ events: inout [[UInt8]]) {
        defer { line.removeAll(keepingCapacity: true) }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        if line.isEmpty {
            if !data.isEmpty { events.append(data) }
            data.removeAll()
            return
        }
        let prefix = Array("data:".utf8)
        guard line.starts(with: prefix) else { return }
        let value = line.dropFirst(prefix.count)
        if !data.isEmpty { data.append(UInt8(ascii: "\n")) }
        data.append(contentsOf: value.first == UInt8(ascii: " ") ? value.dropFirst() : value)
    }
}
