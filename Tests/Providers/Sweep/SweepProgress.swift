import Glibc
import Lifecycle
import Synchronization

/// Says what a sweep has found so far: a line for each kind of fault, and one for each provider
/// once it has met them all.
final class SweepProgress: Sendable {
    private let kindCount: Int
    private let cells = Mutex<[SweptProvider: [FaultSweep.Cell]]>([:])

    init(of kindCount: Int) { self.kindCount = kindCount }

    func add(_ cell: FaultSweep.Cell) {
        Self.say(cell.line)
        let done = cells.withLock { cells in
            cells[cell.provider, default: []].append(cell)
            return cells[cell.provider, default: []]
        }
        guard done.count == kindCount else { return }
        let lives = done.reduce(0) { $0 + $1.lives }
        let violations = done.reduce(0) { $0 + $1.violations.count }
        let milliseconds = done.reduce(0) { $0 + $1.took.milliseconds }
        Self.say(
            "\(cell.provider.rawValue): \(lives) lives, \(violations) false verdicts, "
                + "\(milliseconds) ms"
        )
    }

    /// At once, also into a file: what `print` says would wait for its buffer.
    static func say(_ text: String) {
        let line = Array("sweep: \(text)\n".utf8)
        _ = unsafe write(STDOUT_FILENO, line, line.count)
    }
}
