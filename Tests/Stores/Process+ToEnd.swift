import Foundation

extension Process {
    /// Runs it to its end, and answers what it wrote to `output`.
    ///
    /// `waitUntilExit` misses an end that comes as it begins to wait, and looks again after 50 ms.
    @discardableResult
    func runToEnd(reading output: Pipe? = nil) throws -> Data {
        let end = DispatchSemaphore(value: 0)
        terminationHandler = { _ in end.signal() }
        try run()
        let data = output?.fileHandleForReading.readDataToEndOfFile() ?? Data()
        end.wait()
        return data
    }
}
