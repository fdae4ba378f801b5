import Encoding
import Lifecycle

extension Set<ProviderName> {
    var columnText: String { ColumnText.encode(sorted().map { .string($0.rawValue) }) }

    init(columnText: String) throws {
        self.init(try ColumnText(columnText, "providers").texts().map { ProviderName($0) })
    }
}
