/// A kind of section of the file.
package enum SettingScope: String, Sendable, CaseIterable {
    case requests
    case vault
    case server
    case journal
    case controller
    case provider
    case directory
    case target
    case table = "target.table"
    case column = "target.table.set.COLUMN"
    case key = "target.key"

    package var header: String {
        switch self {
        case .requests, .vault, .server, .journal, .controller: "[\(rawValue)]"
        case .provider, .directory, .target, .table, .key: "[[\(rawValue)]]"
        case .column: "[\(rawValue)]"
        }
    }

    /// Whether the section may be left out and exists at most once.
    package var isSingle: Bool {
        switch self {
        case .requests, .vault, .server, .journal, .controller: true
        case .provider, .directory, .target, .table, .column, .key: false
        }
    }

    /// Below one parent, so that a reload stays quick.
    var countMax: Int {
        switch self {
        case .requests, .vault, .server, .journal, .controller, .directory: 1
        case .provider: 64
        case .target: 256
        case .table: 1024
        case .column: 256
        case .key: 64
        }
    }

    var children: [(name: String, scope: SettingScope)] {
        switch self {
        case .requests, .vault, .server, .journal, .controller, .provider, .directory, .column,
            .key:
            []
        case .target: [("table", .table), ("key", .key)]
        case .table: [("set", .column)]
        }
    }

    package var documentation: String {
        switch self {
        case .requests: "What applies to every request."
        case .vault: "Where sealed credentials get their key from."
        case .server: "The two control sockets. Where they are is decided by the socket units."
        case .journal: "What goes to the journal."
        case .controller: "Who is responsible for the data (GDPR article 4), for receipts."
        case .provider: "One identity provider; repeat the section for each."
        case .directory:
            "The system that holds users' accounts and knows where they are linked; one at most."
        case .target:
            "One store of user data; purged in the order of the file, and after the target whose "
                + "rows hold its ids (keyed_by)."
        case .table: "One table of the target above; repeat the section for each."
        case .key:
            "Ids that the rows of the database above hold for other targets (keyed_by); repeat the "
                + "section for each. They are read and kept, sealed, before anything is purged."
        case .column: "What happens to one column of the table above (action = \"anonymize\" only)."
        }
    }
}
