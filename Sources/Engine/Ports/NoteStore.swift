/// Counts that outlive the process; never personal, never secret.
package protocol NoteStore: Sendable {
    func note(_ name: String) async throws -> String?

    /// Records a count unless a lower one is there.
    func lowerNote(_ name: String, to count: Int) async throws
}

/// What names of counts begin with.
package enum NoteName {
    /// Of rows whose parent is gone.
    package static let orphans = "orphans:"
}
