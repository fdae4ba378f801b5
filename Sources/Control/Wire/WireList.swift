/// One page of a list.
package struct WireList<Item: WireObject & Codable>: WireObject, Codable {
    package var items: [Item]
    package var nextCursor: String?

    package init(_ items: [Item], nextCursor: String? = nil) {
        (self.items, self.nextCursor) = (items, nextCursor)
    }

    package static var schemaName: String { "\(Item.schemaName)List" }

    private static var items: WireFieldType {
        let item = WireFieldType.object(Item.schemaName)
        return Item.listMax.map { .atMost($0, item) } ?? .list(item)
    }

    package static var fields: [WireField] {
        [
            .required("items", items, "The items of this page."),
            .optional("next_cursor", .text, "Pass it as `cursor` to get the next page."),
        ]
    }
}
