import Lifecycle
import Testing

@testable import Daemon
@testable import Settings
@testable import Stores

@Suite("Settings of stores that depend on each other")
struct DependentStoreSettingsTests {
    private static func database(_ keys: String, name: String = "app-db") -> String {
        """
        [[store]]
        name = "\(name)"
        kind = "sqlite"
        path = "/srv/app/\(name).db"
        [[store.table]]
        table = "accounts"
        column = "user_id"
        action = "delete"
        id_type = "integer"
        created_at_column = "created"
        created_at_unit = "unix_s"
        \(keys)

        """
    }

    private static let customer = """
        [[store.key]]
        name = "customer"
        table = "accounts"
        column = "user_id"
        value = "crm_id"
        """

    private static func files(_ keyedBy: String, name: String = "uploads") -> String {
        """
        [[store]]
        name = "\(name)"
        kind = "files"
        root = "/srv/\(name)"
        paths = ["{user_id}"]
        keyed_by = "\(keyedBy)"

        """
    }

    @Test(
        "a table without dates that leads elsewhere has no cutoff, kept or not",
        arguments: ["", "keep"]
    )
    func withoutTimestamps(action: String) throws {
        let rule = """
            [[store.table]]
            table = "crm_map"
            column = "user_id"
            action = "keep"
            keep_reason = "tax"
            """
        let key = """
            [[store.key]]
            name = "customer"
            table = "crm_map"
            column = "user_id"
            value = "crm_id"
            """
        let text = Self.database((action.isEmpty ? "" : rule + "\n") + key)
        let store = try #require(
            try DaemonConfiguration.parse(Array(text.utf8), file: "t.toml").stores.first
        )
        #expect(store.settings.cutoff.gap == "no created_at_column for crm_map")
    }

    @Test("tables without dates are named once each, unless what is there goes with its last owner")
    func namesNoTimestamps() throws {
        func withoutTimestamps(_ more: String) throws -> [String?] {
            let crm = """
                [[store]]
                name = "crm"
                kind = "sqlite"
                path = "/srv/app/crm.db"
                keyed_by = "app-db.customer"
                [[store.table]]
                table = "notes"
                column = "writer"
                action = "delete"
                [[store.table]]
                table = "notes"
                column = "reader"
                action = "anonymize"
                set = { text = { strategy = "null" } }
                keep_reason = "tax"
                [[store.table]]
                table = "bills"
                column = "payer"
                action = "keep"
                keep_reason = "tax"
                [[store.key]]
                name = "call"
                table = "calls"
                column = "caller"
                value = "id"
                """
            let text = Self.database(Self.customer + more) + crm
            let configuration = try Sample.load(text)
            return configuration.stores.map(configuration.withoutTimestamps)
        }
        #expect(try withoutTimestamps("") == [nil, "no created_at_column for notes, calls"])
        #expect(try withoutTimestamps("\nshared = true") == [nil, nil])
    }

    @Test("a key takes type and cutoff from the rule of its column, and stands before its users")
    func reads() throws {
        let text = Self.files("app-db.customer") + Self.database(Self.customer)
        let configuration = try Sample.load(text)
        // The file has them the other way round.
        #expect(configuration.stores.map(\.name.rawValue) == ["app-db", "uploads"])
        let key = try #require(configuration.stores.first?.keys.first)
        #expect(key.name == "customer" && key.table == "accounts" && key.value == "crm_id")
        #expect(key.userRule.idType == .integer && key.valueType == .text && !key.isShared)
        #expect(key.creation == CreationColumn(column: "created", unit: .unixSeconds))
        #expect(configuration.stores.last?.keyedBy?.description == "app-db.customer")
        #expect(configuration.cautions.allSatisfy { !$0.contains("is not used") })
        let again = try Sample.load(EffectiveConfiguration().text(of: configuration.sections))
        #expect(again == configuration)
    }

    @Test("a key of a table without a rule says everything itself")
    func ownTable() throws {
        let key = """
            [[store.key]]
            name = "workspace"
            table = "members"
            column = "member"
            id_type = "uuid"
            value = "workspace"
            value_type = "integer"
            shared = true
            created_at_column = "joined"
            created_at_unit = "iso8601"
            """
        let configuration = try Sample.load(Self.database(key))
        let read = try #require(configuration.stores.first?.keys.first)
        #expect(read.userRule.idType == .uuid && read.valueType == .integer && read.isShared)
        #expect(read.userRule.creation?.unit == .iso8601)
        #expect(configuration.cautions.contains { $0.contains("key 'workspace'") })
    }

    @Test("chains are put in order, everything else stays where it is")
    func order() throws {
        let second = Self.customer.replacing("\"customer\"", with: "\"ticket\"")
        let text =
            Self.files("crm-db.ticket", name: "tickets") + Self.files("app-db.customer", name: "b")
            + Self.database(second + "\n", name: "crm-db").replacing(
                "path =",
                with: "keyed_by = \"app-db.customer\"\npath ="
            ) + Self.database(Self.customer)
        let names = try Sample.load(text).stores.map(\.name.rawValue)
        #expect(names == ["app-db", "b", "crm-db", "tickets"])
    }

    @Test("two stores may have one file when they find its rows by different ids")
    func oneFile() throws {
        let sibling = """
            [[store]]
            name = "workspaces"
            kind = "sqlite"
            path = "/srv/app/app-db.db"
            keyed_by = "app-db.customer"
            [[store.table]]
            table = "workspaces"
            column = "id"
            action = "delete"

            """
        let both = Self.database(Self.customer) + sibling
        #expect(try Sample.load(both).stores.count == 2)
        let third = sibling.replacing("\"workspaces\"\nkind", with: "\"third\"\nkind")
        #expect(Sample.message(both + third).contains("t.toml:29: cannot use store.third.path"))
    }

    /// A file, and what is said about it.
    static let refused: [(String, String)] = [
        (
            database(customer) + files("app-dv.customer"),
            "t.toml:22: cannot use store.uploads.keyed_by 'app-dv.customer' (unknown_value): there"
                + " is no store 'app-dv'; did you mean 'app-db'?"
        ),
        (
            database(customer) + files("app-db.costumer"),
            "t.toml:22: cannot use store.uploads.keyed_by 'app-db.costumer' (unknown_value):"
                + " store 'app-db' has no key 'costumer'; did you mean 'customer'?"
        ),
        (
            database(customer) + files("app-db"),
            "t.toml:22: cannot use store.uploads.keyed_by 'app-db' (malformed): it must be"
                + " STORE.KEY, the names of a store and of one of its [[store.key]]"
        ),
        (
            database(customer) + files("app-db.customer", name: "a") + files("a.x", name: "b"),
            "t.toml:28: cannot use store.b.keyed_by 'a.x' (contradiction): store 'a' is no"
                + " database, so it has no rows with ids"
        ),
        (
            database(customer).replacing("path =", with: "keyed_by = \"app-db.customer\"\npath ="),
            "t.toml:4: cannot use store.app-db.keyed_by 'app-db.customer' (contradiction): the ids"
                + " lead in a circle: app-db, app-db"
        ),
        (
            files("app-db.customer") + customer + "\n" + database(customer),
            "t.toml:7: cannot use store.uploads.key (contradiction): only a database has rows in"
                + " which ids for other stores are found; kind is \"files\""
        ),
        (
            database(customer + "\n" + customer),
            "t.toml:18: cannot use store.app-db.key[1].name 'customer' (duplicate): line 13 has"
                + " the same name; keys of a store have names of their own"
        ),
        (
            database(customer + "\nid_type = \"text\""),
            "t.toml:17: cannot use store.app-db.key[0].id_type (contradiction): the"
                + " [[store.table]] of the same table and column says otherwise"
        ),
        (
            database(customer + "\nshared = true").replacing(
                "action = \"delete\"",
                with: "action = \"keep\"\nkeep_reason = \"tax law\""
            ),
            "t.toml:18: cannot use store.app-db.key[0].shared (contradiction): action \"keep\""
                + " leaves the rows, so that no id would ever be without owners"
        ),
        (
            database(customer + "\nvalues = \"x\""),
            "t.toml:17: cannot use store.app-db.key[0].values (unknown_key): there is no such key;"
                + " did you mean 'value'?"
        ),
    ]

    @Test("what cannot work is said with its line and the nearest name", arguments: refused)
    func refuses(text: String, message: String) {
        #expect(Sample.message(text).split(separator: "\n").map(String.init) == [message])
    }
}
