/// Bounds of the control client; a test may shorten the waits.
package struct ClientLimits: Sendable {
    /// From the start of one try to the end of its answer; the daemon answers within milliseconds.
    package var callTimeout: Duration = .seconds(30)
    /// The same for a plan; the daemon gives up first, and says so.
    package var planTimeout: Duration = .seconds(610)
    /// How long a call goes on trying once the daemon cannot be reached; a restart takes a second.
    package var reconnectTimeout: Duration = .seconds(5)
    /// The wait before the second try; it doubles up to `retryDelayMax`.
    package var retryDelayMin: Duration = .milliseconds(20)
    /// The longest wait between two tries.
    package var retryDelayMax: Duration = .seconds(1)

    package init() {}
}
