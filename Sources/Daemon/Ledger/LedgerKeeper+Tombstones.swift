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
                found += tombstones.lines.flatMap { Self.tombstones($0.leaf) }
                    .filter { $0.erasedAt >= since }
            }
        }
        return found
    }

    private static func tombstones(_ leaf: String) -> [Tombstone] {
        do throws(JSONError) {
            let value = try JSONReader.read(Array(leaf.utf8))
            guard let time = value["time"]?.text.flatMap({ WallTime(rfc3339: $0) }),
                let request = value["request"]?.text.flatMap({ RequestID($0) })
            else { return [] }
            if case .array(let keys)? = value["keys"] {
                return keys.compactMap { hash($0) }.map { hash in
                    Tombstone(hash: hash, erasedAt: time, request: request, isKey: true)
                }
            }
            guard let user = value["user"].flatMap({ hash($0) }),
                case .integer(let generation)? = value["generation"]
            else { return [] }
            return [
                Tombstone(
                    hash: user,
                    generation: Int(generation),
                    erasedAt: time,
                    request: request
                )
            ]
        } catch {
            return []
        }
    }

    private static func hash(_ value: JSONValue) -> [UInt8]? {
        value.text.flatMap { Base64URLText.decode($0) }.flatMap { $0.count == 32 ? $0 : nil }
    }
}
