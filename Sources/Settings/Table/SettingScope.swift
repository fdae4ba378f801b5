/// A kind of section of the file.
package enum SettingScope: String, Sendable, CaseIterable {
    case requests
    case state
    case vault
    case server
    case journal
    case controller
    case recipient
    case mail
    case provider
    case directory
    case store
    case table = "store.table"
    case column = "store.table.set.COLUMN"
    case condition = "store.table.where.COLUMN"
    case key = "store.key"
    case auth = "store.auth"
    case verifyHost = "store.verify_host"
    /// Also `store.verify` and `store.users`.
    case step = "store.erase"
    case subscriber
    case queue

    /// Those that are below no other section.
    static let top = allCases.filter { !$0.rawValue.contains(".") }

    package var header: String {
        isSingle || isTable || columnSample != nil ? "[\(rawValue)]" : "[[\(rawValue)]]"
    }

    /// Whether the section may be left out and exists at most once.
    package var isSingle: Bool {
        switch self {
        case .requests, .state, .vault, .server, .journal, .controller, .mail: true
        case .recipient, .provider, .directory, .store, .table, .column, .condition, .key, .auth,
            .verifyHost, .step, .subscriber, .queue:
            false
        }
    }

    /// Whether its parent has it once, as a table.
    var isTable: Bool { self == .auth || self == .verifyHost }

    /// What stands behind a column of `set` or `where`; `nil` for other sections.
    var columnSample: String? {
        switch self {
        case .column: "{ strategy = \"null\" }"
        case .condition: "{ equals = \"User\" }"
        default: nil
        }
    }

    /// Below one parent, so that a reload stays quick.
    var countMax: Int {
        switch self {
        case .requests, .state, .vault, .server, .journal, .controller, .mail, .directory, .auth,
            .verifyHost:
            1
        case .subscriber, .queue: 16
        case .step: 32
        case .provider, .recipient: 64
        case .store: 256
        case .table: 1024
        case .column: 256
        case .condition: 16
        case .key: 64
        }
    }

    var children: [(name: String, scope: SettingScope)] {
        switch self {
        case .store:
            [
                ("table", .table), ("key", .key), ("auth", .auth), ("verify_host", .verifyHost),
                ("erase", .step), ("verify", .step), ("users", .step),
            ]
        case .table: [("set", .column), ("where", .condition)]
        default: []
        }
    }

    package var documentation: String {
        switch self {
        case .requests: "What applies to every request."
        case .state: "Where the service keeps its own state."
        case .vault: "Where sealed credentials get their key from."
        case .server:
            "The sockets control.sock, submit.sock and viewer.sock. The socket units decide where "
                + "they are."
        case .journal: "What goes to the journal."
        case .controller: "Who is responsible for the data (GDPR article 4), for receipts."
        case .recipient:
            "A recipient of user data that must be notified of its erasure (GDPR article 19), "
                + "for reports and receipts; repeat the section for each."
        case .mail:
            "Mail of alarms, and of confirmations to users; on where from is given."
        case .subscriber:
            "A web service of yours that gets a signed message for each change of a request and "
                + "each alarm; repeat the section for each."
        case .queue:
            "A queue of requests in a database of an application; repeat the section for each."
        case .provider: "One identity provider; repeat the section for each."
        case .directory:
            "The system that holds users' accounts and knows where they are linked; one at most."
        case .store:
            "One store of user data; purged in the order of the file, and after the store whose "
                + "rows hold its ids (keyed_by)."
        case .table: "One table of the store above; repeat the section for each."
        case .key:
            "Ids that the rows of the database above hold for other stores (keyed_by); repeat the "
                + "section for each. They are read and kept, sealed, before anything is purged."
        case .auth: "How calls of the store above (kind \"http\") prove who makes them."
        case .verifyHost:
            "Another host that answers [[store.verify]], with a secret of its own; the other keys "
                + "are those of [store.auth]."
        case .step:
            "One call that erases a user, made in the order of the file. [[store.verify]] has the "
                + "same keys and finds what is left; [[store.users]] lists all users."
        case .column: "What happens to one column of the table above (action = \"anonymize\" only)."
        case .condition:
            "What one more column of the table above must hold. The rule finds rows for which all "
                + "conditions are true."
        }
    }
}
