import PostgreSQL
import Testing

@testable import Daemon
@testable import Settings

@Suite("Settings of the state") struct StateSettingsTests {
    @Test("a file is the default, and has no keys of a server")
    func file() throws {
        #expect(try Sample.load("").state.kind == .sqlite)
        for key in [
            "conninfo_credential = \"c\"", "host = \"a\"", "ca_file = \"/etc/ca.pem\"",
        ] {
            let message = Sample.message("[state]\n" + key)
            #expect(message.contains("only kind \"postgresql\" has it"), "\(message)")
        }
    }

    @Test("a server needs a credential, which is one of those that must be there")
    func server() throws {
        let kind = "[state]\nkind = \"postgresql\"\n"
        #expect(Sample.message(kind).contains("kind \"postgresql\" needs it"))
        let loaded = try Sample.load(kind + "conninfo_credential = \"c\"\nhost = \"host-a\"")
        #expect(loaded.state.kind == .postgresql && loaded.state.tls == .verifyFull)
        #expect(loaded.state.host == "host-a" && loaded.state.caFile == nil)
        let names = loaded.requiredCredentials.map(\.name)
        #expect(names.contains("c"))
        #expect(Sample.message(kind + "host = \"A_b\"").contains("state.host"))
    }
}
