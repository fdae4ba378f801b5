import Encoding
import Lifecycle

/// A plan and its approval as JSON: names of the configuration and counts, never personal data.
enum ApprovalText {
    /// - Throws: `EncodingError`, never for a value of ours.
    static func encode(_ approval: Approval) throws -> String {
        try TypedJSON.text(approval)
    }

    static func decode(_ text: String?) throws -> Approval? {
        guard let text else { return nil }
        do {
            return try TypedJSON.value(Approval.self, from: text.utf8)
        } catch {
            throw StorageError.malformed("approval")
        }
    }
}
