import Dispatch

/// Runs an actor whose calls block in the file system, off the few threads that all tasks share.
///
/// An actor on the shared pool would hold one of its threads for as long as a slow disk takes.
final class BlockingQueue: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = unsafe asUnownedSerialExecutor()
        queue.async { unsafe job.runSynchronously(on: executor) }
    }
}
