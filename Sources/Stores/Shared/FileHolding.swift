package import Engine

/// A target that keeps files open between calls.
package protocol FileHolding: PurgeTarget {
    /// Closes the files that no call is using; the next call opens them again.
    func closeIdleFiles() async
}
