import Testing

@testable import Daemon
@testable import Settings
@testable import Stores

@Suite("Settings of tables of DynamoDB")
struct DynamoDBSettingsTests {
    private static let section = """
        [[store]]
        name = "tables"
        kind = "dynamodb"
        region = "eu-central-1"
        access_key_id = "AKIAIOSFODNN7EXAMPLE"
        secret_key_credential = "dynamodb-key"

        """

    private static func settings(_ text: String) throws -> DynamoDBKind {
        let configuration = try Sample.load(section + text + "\n")
        let settings = try #require(configuration.stores.first).settings
        return try #require(settings as? DynamoDBKind)
    }

    @Test("the endpoint is that of the region, and everything without a date has no cutoff")
    func reads() throws {
        let settings = try Self.settings("items = [\"profiles where pk == {user_id}\"]")
        #expect(settings.access.endpoint == "https://dynamodb.eu-central-1.amazonaws.com")
        #expect(settings.tablePrefix.isEmpty && !settings.verifiesByScan)
        #expect(settings.cutoff.gap == "no created_at_attributes for profiles")
        let dated = try Self.settings(
            """
            items = ["profiles where pk == {user_id}"]
            created_at_attributes = { profiles = "at" }
            """
        )
        #expect(dated.cutoff.gap == nil)
    }

    @Test("a copy is the same tables behind another prefix")
    func copies() throws {
        let settings = try Self.settings("items = [\"profiles where pk == {user_id}\"]")
        let copy = try settings.copy(at: "drill-")
        #expect(copy.tablePrefix == "drill-" && copy.access == settings.access)
        #expect(throws: NoStoreCopy.self) { try settings.copy(at: "drill/") }
    }

    @Test(
        "what could mean another user, or nothing, stops the start",
        arguments: [
            "",
            "items = [\"profiles where pk == ann\"]",
            "items = [\"profiles\"]",
            "releases = [\"profiles where pk == {user_id}\"]",
            "items = [\"p where pk == {user_id}\"]\nendpoint = \"http://dynamodb.example.com\"",
            "items = [\"p where pk == {user_id}\"]\nmasks = { name = \"x\" }",
            "items = [\"p where pk == {user_id}\"]\ncreated_at_attributes = { q = \"at\" }",
            "items = [\"p where pk == {user_id}\"]\ncreated_at_unit = \"days\"",
            "items = [\"p where pk == {user_id}\"]\ntable_prefix = \"a b\"",
        ]
    )
    func refused(text: String) {
        #expect(throws: (any Error).self) { try Sample.load(Self.section + text + "\n") }
    }
}
