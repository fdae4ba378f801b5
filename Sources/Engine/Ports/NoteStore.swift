/// Counts that outlive the process; never personal, never secret.
package protocol NoteStore: Sendable {
    func note(_ name: String) async throws -> String?

    /// Records a count unless a lower one is there.
    func lowerNote(_ name: String, to count: Int) async throws
}

package enum NoteName {
    /// What counts of loose rows begin with.
    package static let orphans = "orphans:"
}
