import Control
import Encoding
import FoundationEssentials
import Ledger
import Lifecycle
import Storage

extension LedgerKeeper {
    private static let learnedMax = 2048

    /// Learns the tombstones in the checkpoint files, those set aside included, and counts the new.
    func learnTombstones(since: WallTime) async throws -> Int {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: file.directory)
        } catch {
            throw DaemonError(.state, "cannot list '\(file.directory)'")
        }
        var buried = try await state.buriedRequests()
        var count = 0
        for name in names.sorted() where name.hasPrefix(CheckpointFile.name) {
            let old = CheckpointFile(directory: file.directory, fileName: name)
            var found: [Tombstone] = []
            _ = try await old.read(from: 0) { bytes, _ in
                found += tombstones(inNote: bytes).filter { $0.erasedAt >= since }
                guard found.count >= Self.learnedMax else { return }
                count += try await state.learn(found, buried: &buried)
                found.removeAll(keepingCapacity: true)
            }
            count += try await state.learn(found, buried: &buried)
        }
        return count
    }

    private func tombstones(inNote bytes: [UInt8]) -> [Tombstone] {
        guard let text = String(validating: bytes, as: UTF8.self),
            let note = SignedNote(text), key.isSigner(of: note),
            let tombstones = TombstoneNote(text: note.text, origin: key.name)
        else { return [] }
        return tombstones.lines.flatMap { Self.tombstones($0.leaf) }
    }

    private static func tombstones(_ leaf: String) -> [Tombstone] {
        do throws(JSONError) {
            let value = try JSONReader.read(Array(leaf.utf8))
            guard let time = value["time"]?.string.flatMap({ WallTime(rfc3339: $0) }),
                let request = value["request"]?.string.flatMap({ RequestID($0) })
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
        value.string.flatMap { Base64URL.decode($0.utf8) }.flatMap { $0.count == 32 ? $0 : nil }
    }
}
