import FoundationEssentials
import Lifecycle

/// A set of provider names as a JSON list, sorted.
enum ProviderNamesText {
    static func encode(_ names: Set<ProviderName>?) -> String? {
        guard let names else { return nil }
        do {
            let data = try JSONEncoder().encode(names.sorted().map(\.rawValue))
            return String(decoding: data, as: UTF8.self)
        } catch {
            preconditionFailure("a list of texts is JSON")
        }
    }

    static func decode(_ text: String?) throws -> Set<ProviderName>? {
        guard let text else { return nil }
        do {
            let names = try JSONDecoder().decode([String].self, from: Data(text.utf8))
            return Set(names.map { ProviderName($0) })
        } catch {
            throw StorageError.malformed("providers")
        }
    }
}
