/// Bounds of the control client; a test may shorten the waits.
package struct ClientLimits: Sendable {
    /// From the start of one try to the end of its answer; the daemon answers within milliseconds.
    package var callTimeout: Duration = .seconds(30)
    /// The same for a plan; the daemon gives up first, and says so.
    package var planTimeout: Duration = .seconds(610)
    /// How long a call goes on trying once the daemon cannot be reached; a restart takes a second.
    package var reconnectTimeout: Duration = .seconds(5)
    /// How long the service may take to answer anything at all; `nil`: as long as a call.
    ///
    /// The sockets of systemd accept connections while the service starts, or cannot start.
    package var firstAnswerTimeout: Duration?
    /// Between two reads of a replay, which takes seconds or hours.
    package var replayPause: Duration = .milliseconds(250)
    /// How often one replay is begun.
    ///
    /// A daemon that ends in the middle of it more often than by chance ends because of it.
    package var replayStartsMax = 20

    package init() {}
}
