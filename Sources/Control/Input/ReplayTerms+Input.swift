package import Encoding
package import Lifecycle

extension ReplayTerms: WireInput {
    package static let schemaName = "ReplayInput"
    package static let members: [WireMember<ReplayTerms>] = [
        .field("since", \.since, "Repeat erasures from then on: when the backup was made."),
        .field("store", \.store, as: .name, "This store alone."),
        .field(
            "drill",
            { $0.isDrill ? Optional(true) : nil },
            "Report what would be erased, and erase nothing."
        ),
        .field(
            "restored_at",
            \.restoredAt,
            "With store: when it was restored. What it dates up to then, or not at all, goes."
        ),
        .field(
            "copy",
            \.copy,
            as: .limited(byteCountMax: 1024),
            "With drill and store: erase in this copy of the store, and verify."
        ),
        .field(
            "id",
            \.id,
            as: .limited(byteCountMax: 64),
            "A name of yours for it: sent again, it begins no other replay."
        ),
    ]

    package static let rules: [JSONValue.Member] = [
        .init(
            "allOf",
            [
                [
                    "anyOf": [
                        ["required": ["store"], "properties": ["store": ["type": "string"]]],
                        [
                            "properties": [
                                "restored_at": ["type": "null"], "copy": ["type": "null"],
                            ]
                        ],
                    ]
                ],
                [
                    "anyOf": [
                        ["required": ["drill"], "properties": ["drill": ["const": true]]],
                        ["properties": ["copy": ["type": "null"]]],
                    ]
                ],
            ]
        )
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        let object = try InputObject(body: body, fields: Self.fields)
        guard let since = WallTime(rfc3339: try object.requiredText("since")) else {
            throw object.problem("since", "must be a time such as 2026-11-21T08:00:00Z")
        }
        self.init(since: since, store: try object.store("store"))
        switch object.value("drill") {
        case nil: break
        case .bool(let claim)?: isDrill = claim
        default: throw object.problem("drill", "must be true or false")
        }
        if let text = try object.text("restored_at") {
            guard let time = WallTime(rfc3339: text), time >= since, store != nil else {
                throw object.problem(
                    "restored_at",
                    "must be a time after since, and goes with store"
                )
            }
            restoredAt = time
        }
        copy = try object.text("copy")
        guard copy == nil || isDrill && store != nil else {
            throw object.problem("copy", "goes with drill and store")
        }
        id = try object.text("id")
    }
}
