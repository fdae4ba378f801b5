@testable import Stores

extension TableShape {
    /// A table of texts, without keys.
    init(_ name: String, columns: [String]) {
        self.init(name: name, reference: name)
        self.columns = columns.map { column in
            ColumnShape(
                name: column,
                type: "text",
                typeText: "is of type 'text'",
                idTypes: [.text],
                units: [],
                holdsText: true
            )
        }
    }
}
