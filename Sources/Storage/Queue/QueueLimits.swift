/// Bounds of the work on a queue, each with its unit and its reason.
package enum QueueLimits {
    /// Rows that were handed out and are remembered, some hundred bytes each.
    static let seenMax = 16_384
    /// A walk of this time disturbs nobody.
    static let cheapWalk = Duration.milliseconds(20)
    /// A longer walk is followed by a pause of so many times its cost.
    static let walkShare = 4
    /// However long a walk takes, the next one begins after this pause.
    static let walkPauseMax = Duration.seconds(5)
    /// Rows of one commit of states: their JSON is some 100 KiB.
    static let commitMax = 500
    /// How long to wait for a notification before looking whether the connection is still there.
    package static let wakeInterval = Duration.seconds(5)
}
