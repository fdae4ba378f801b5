import FoundationEssentials
package import Lifecycle

/// Wall time read once at start and advanced by the boot-time clock.
///
/// A step of the system's wall clock neither wakes everything at once nor stalls anything while the
/// process runs (`ContinuousClock` is CLOCK_BOOTTIME and counts suspended time too). Stored due
/// times are read against a fresh anchor at the next start.
package struct AnchoredClock: EngineClock {
    private let wallAnchor: WallTime
    private let anchor = ContinuousClock.now

    package init() {
        wallAnchor = WallTime(
            unixMilliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))
        )
    }

    /// The wall time of the anchor plus what passed since.
    package func now() -> WallTime { wallAnchor + anchor.duration(to: .now) }

    /// Sleeps on the boot-time clock.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    package func sleep(until time: WallTime) async throws {
        try await Task.sleep(until: anchor + time.since(wallAnchor), clock: .continuous)
    }
}
