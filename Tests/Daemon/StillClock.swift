import Engine
import Lifecycle

@testable import Daemon

/// Stands still, so that no hour is ever over.
struct StillClock: EngineClock {
    func now() -> WallTime { Bench.start }

    func sleep(until time: WallTime) async throws {
        guard time > Bench.start else { return }
        // Nobody ends it but whoever cancels.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        continuation.finish()
        throw CancellationError()
    }
}
