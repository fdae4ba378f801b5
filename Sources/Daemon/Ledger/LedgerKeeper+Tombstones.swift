import Control
import FoundationEssentials
import Ledger
import Lifecycle
import Storage

extension LedgerKeeper {
    /// Tombstones in the checkpoint files, also in those that were set aside: an older state does
    /// not know them.
    ///
    /// - Throws: ``DaemonError`` for a file that cannot be read.
    func tombstones(since: WallTime) async throws -> [Tombstone] {
        var found: [Tombstone] = []
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: file.directory)
        } catch {
            throw DaemonError(.state, ["cannot list '\(file.directory)'"])
        }
        for name in names.sorted() where name.hasPrefix(CheckpointFile.name) {
            let old = CheckpointFile(directory: file.directory, fileName: name)
            _ = try await old.read(from: 0) { bytes, _ in
                guard let text = String(validating: bytes, as: UTF8.self),
                    let note = SignedNote(text), key.isSigner(of: note),
                    let tombstones = TombstoneNote(text: note.text, origin: key.name)
                else { return }
                found += tombstones.lines.compactMap { Self.tombstone($0.leaf) }
                    .filter { $0.erasedAt >= since }
            }
        }
        return found
    }

    private static func tombstone(_ leaf: String) -> Tombstone? {
        do throws(JSONError) {
            let value = try JSONReader.read(Array(leaf.utf8))
            guard let user = value["user"]?.text.flatMap({ Base64URLText.decode($0) }),
                user.count == 32, case .integer(let generation)? = value["generation"],
                let time = value["time"]?.text.flatMap({ WallTime(rfc3339: $0) }),
                let request = value["request"]?.text.flatMap({ RequestID($0) })
            else { return nil }
            return Tombstone(
                userHash: user,
                generation: Int(generation),
                erasedAt: time,
                request: request
            )
        } catch {
            return nil
        }
    }
}
