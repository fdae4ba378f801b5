package import Engine

/// Where the states come from that the spool shows.
package protocol SpoolMirrorSource: Sendable {
    /// Whether nothing is being changed; cheap.
    var isQuiet: Bool { get }

    /// Rows that show something older than the state, all rows of one request together.
    func spoolMirrorRows(limit: Int) async throws -> [MirrorRow]

    /// Records that rows show it.
    func confirmMirrored(_ rows: [MirrorRow]) async throws

    /// Has the states of rows that were imported before come again.
    func mirrorAgain(_ rows: [SpoolRow]) async throws

    /// How many of the rows were imported before with another content.
    func countRecreated(requests: [SpoolRow], credentials: [SpoolRow]) async throws -> Int
}
