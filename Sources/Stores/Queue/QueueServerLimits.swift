/// Bounds of a queue's statements, each with its reason.
enum QueueServerLimits {
    /// The schema allows less than 40 KiB.
    static let rowBytes = 65_536
    /// Bytes of one page, so that hostile rows do not fill the memory.
    static let pageBytes = 4 << 20
    /// The tables that we know.
    static let version = 1
    static let idLength = 1...64
}
