import FoundationEssentials
import Lifecycle

/// A plan and its approval as JSON: names of the configuration and counts, never personal data.
enum ApprovalText {
    /// - Throws: `EncodingError`, never for a value of ours.
    static func encode(_ approval: Approval) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(approval), as: UTF8.self)
    }

    static func decode(_ text: String?) throws -> Approval? {
        guard let text else { return nil }
        do {
            return try JSONDecoder().decode(Approval.self, from: Data(text.utf8))
        } catch {
            throw StorageError.malformed("approval")
        }
    }
}
