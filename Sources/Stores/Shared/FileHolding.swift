package import Engine

/// A store that keeps files open between calls.
package protocol FileHolding: PurgeStore {
    /// Closes the files that no call is using; the next call opens them again.
    func closeIdleFiles() async
}
