import Synchronization

/// Lets one caller in at a time, in their order.
///
/// Bounded by its callers: the connections of operators, and one signal.
final class AsyncLock: Sendable {
    private struct Line {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let line = Mutex(Line())

    func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = line.withLock { line in
                guard line.isTaken else {
                    line.isTaken = true
                    return true
                }
                line.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func leave() {
        let next = line.withLock { line -> CheckedContinuation<Void, Never>? in
            guard !line.waiting.isEmpty else {
                line.isTaken = false
                return nil
            }
            return line.waiting.removeFirst()
        }
        next?.resume()
    }
}
