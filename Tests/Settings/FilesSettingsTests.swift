import Lifecycle
import Testing

@testable import Daemon
@testable import Settings
@testable import Stores

@Suite("Settings of a store of files")
struct FilesSettingsTests {
    private static let section = """
        [[store]]
        name = "uploads"
        kind = "files"
        root = "/srv/app/uploads"

        """

    @Test("root and paths are read")
    func reads() throws {
        let configuration = try Sample.load(
            Self.section + #"paths = ["files/{user_id}", "*/{user_id}.png"]"# + "\n"
        )
        let store = try #require(configuration.stores.first)
        #expect(store.name == StoreName("uploads"))
        #expect(store.kind == "files")
        let files = try #require(store.settings as? FilesKind)
        #expect(files.root == "/srv/app/uploads")
        #expect(files.paths.map(\.description) == ["files/{user_id}", "*/{user_id}.png"])
    }

    @Test(
        "a path that could reach too far stops the start",
        arguments: ["", "/{user_id}", "../{user_id}", "x", "{user_id}*", "{user_id}/{user_id}"]
    )
    func refuses(path: String) {
        #expect(throws: (any Error).self) {
            try Sample.load(Self.section + "paths = [\"\(path)\"]\n")
        }
    }

    @Test("residual copies are a database's")
    func residualCopies() throws {
        let text = Self.section + "paths = [\"{user_id}\"]\nresidual_copies_kept = \"1d\"\n"
        #expect(Sample.message(text).contains("residual_copies_kept (contradiction)"))
        let redis = text.replacing("root = \"/srv/app/uploads\"", with: "socket = \"/s\"")
            .replacing("paths", with: "keys").replacing("\"files\"", with: "\"redis\"")
        #expect(try Sample.load(redis).stores.first?.residualCopiesKept == .seconds(86_400))
    }

    @Test("tables are refused, and a store of tables needs no root")
    func tables() {
        #expect(throws: (any Error).self) {
            try Sample.load(
                Self.section + """
                    paths = ["{user_id}"]
                    [[store.table]]
                    table = "t"
                    column = "c"
                    action = "delete"

                    """
            )
        }
    }
}
