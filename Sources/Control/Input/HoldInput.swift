package import Encoding
package import Lifecycle

/// The body of a hold on a store: which one, which rows, and why.
package struct HoldInput: WireInput, Hashable {
    package var store: StoreName
    /// `nil` for all of the store.
    package var rows: RowFilter?
    package var reason: String?

    package init(store: StoreName, rows: RowFilter? = nil, reason: String? = nil) {
        (self.store, self.rows, self.reason) = (store, rows, reason)
    }

    package static let members: [WireMember<HoldInput>] = [
        .field("store", \.store, as: .name, "The store to hold."),
        .field(
            "table",
            { $0.rows?.table },
            as: .line,
            "Hold rows of this table alone; needs `where`."
        ),
        .field(
            "where",
            { $0.rows.map(HoldInput.texts(of:)) },
            as: .items(
                .pattern(
                    "[^=\\u0000-\\u001f\\u007f]+=[^\\u0000-\\u001f\\u007f]*",
                    byteCountMax: ControlLimits.textByteCountMax
                ),
                1...ControlLimits.conditionsMax
            ),
            "Which rows, as COLUMN=VALUE, at most 32: any of the values of one column, and all of"
                + " the columns."
        ),
        .field("reason", \.reason, as: .reason, "Why, 1 to 200 bytes, no personal data."),
    ]

    package static let rules: [JSONValue.Member] = [
        .init(
            "anyOf",
            [
                [
                    "required": ["table", "where"],
                    "properties": ["table": ["type": "string"], "where": ["type": "array"]],
                ],
                ["properties": ["table": ["type": "null"], "where": ["type": "null"]]],
            ]
        )
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        let object = try InputObject(body: body, fields: Self.fields)
        store = try object.required("store", object.store("store"))
        reason = try object.text("reason")
        let table = try object.text("table")
        var texts: [String] = []
        switch object.value("where") {
        case nil: break
        case .array(let items)?: texts = items.compactMap(\.string)
        default: throw object.problem("where", "must be a list of texts")
        }
        guard table != nil || object.value("where") == nil else {
            throw object.problem("where", "goes with table")
        }
        rows = try table.map { table throws(ControlProblem) in
            guard let filter = Self.filter(of: table, texts) else {
                throw object.problem("where", "must be 1 to 32 texts, each COLUMN=VALUE")
            }
            return filter
        }
    }

    /// Makes a filter of 1 to 32 texts such as `status=disputed`; those of one column are its
    /// values.
    ///
    /// Returns `nil` when a text has no column, is too long, or has control characters.
    package static func filter(of table: String, _ texts: [String]) -> RowFilter? {
        guard (1...ControlLimits.conditionsMax).contains(texts.count) else { return nil }
        var conditions: [RowFilter.Condition] = []
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty,
                text.utf8.count <= ControlLimits.textByteCountMax,
                text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
            else { return nil }
            let (column, value) = (String(parts[0]), String(parts[1]))
            let index = conditions.firstIndex { $0.column == column }
            let values = (index.map { conditions[$0].values } ?? []) + [value]
            let condition = RowFilter.Condition(column: column, values: values)
            if let index { conditions[index] = condition } else { conditions.append(condition) }
        }
        return RowFilter(table: table, conditions: conditions)
    }

    static func texts(of filter: RowFilter) -> [String] {
        filter.conditions.flatMap { condition in
            condition.values.map { "\(condition.column)=\($0)" }
        }
    }
}
