/// Small facts that outlive the process; never personal, never secret.
package protocol NoteStore: Sendable {
    func note(_ name: String) async throws -> String?

    func setNote(_ name: String, to value: String) async throws
}
