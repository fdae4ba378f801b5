import Engine
import Lifecycle

extension PurgeTarget {
    /// The problems that stop the target, or the one that it did not answer within `limit`.
    ///
    /// What a store waits for ends when its task is cancelled, so that nothing waits for it.
    func startupProblems(within limit: Duration, _ clock: any EngineClock) async -> [String] {
        let end = clock.now() + limit
        return await withTaskGroup(of: [String]?.self) { group in
            group.addTask { await self.startupProblems() }
            group.addTask {
                do {
                    try await clock.sleep(until: end)
                } catch {
                    // Cancelled: the store has answered.
                    return nil
                }
                let seconds = limit.milliseconds / 1000
                return [
                    "it did not answer the check at the start within \(seconds) s; the service"
                        + " checks it again and resumes it"
                ]
            }
            defer { group.cancelAll() }
            while let problems = await group.next() {
                if let problems { return problems }
            }
            return []
        }
    }
}
