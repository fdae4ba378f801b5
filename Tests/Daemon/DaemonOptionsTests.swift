import Glibc
import Systemd
import Testing

@testable import Daemon

struct DaemonOptionsTests {
    @Test func `variables give file and format of messages, and arguments win`() throws {
        let variables = ["EXPUNGED_CONFIG": "/a.toml", "EXPUNGED_LOG_FORMAT": "json"]
        let plain = try DaemonOptions([], environment: variables)
        #expect(plain.configurationPath == "/a.toml" && plain.logOutput == .json)
        let given = try DaemonOptions(
            ["--config", "/b.toml", "--log-format", "text"],
            environment: variables
        )
        #expect(given.configurationPath == "/b.toml" && given.logOutput == .standardError)
        let none = try DaemonOptions([])
        #expect(none.configurationPath == "/etc/expunged/expunged.toml" && none.logOutput == nil)
    }

    @Test func `a check as the service has all that it was given`() throws {
        let given = [
            "--check", "--json", "--config", "/c", "--state-directory", "/s",
            "--runtime-directory", "/r", "--credentials-directory", "/k", "--logs-directory", "/l",
        ]
        let options = try DaemonOptions(
            ["--as-service"] + given,
            environment: ["EXPUNGED_CONFIG": "/e"]
        )
        let handedOn = try DaemonOptions(try #require(options.argumentsAsService))
        #expect(options.argumentsAsService == ["--config", "/e"] + given)
        #expect(try handedOn == DaemonOptions(given))
    }

    @Test(arguments: [["--log-format", "xml"], ["--log-format"], ["state", "x"], ["state"]])
    func `a wrong argument is refused`(arguments: [String]) {
        #expect(throws: DaemonError.self) { try DaemonOptions(arguments) }
    }

    @Test func `an unknown format in a variable is named`() {
        #expect {
            try DaemonOptions([], environment: ["EXPUNGED_LOG_FORMAT": "xml"])
        } throws: { error in
            "\(error)".contains("$EXPUNGED_LOG_FORMAT is 'xml'")
        }
    }

    @Test func `a socket of an unknown group is its owner's alone, and the others are made`()
        throws
    {
        let bench = try Bench()
        let text = "[server]\nsubmit_group = \"no-such-group\"\nviewer_group = \"root\"\n"
        let server = try DaemonConfiguration.parse(Array(text.utf8), file: "t.toml").server
        let own = OwnSockets(runtime: bench.directory, server: server, logger: bench.log.logger)
        #expect(try own.make().count == 3)
        let modes = ["control", "submit", "viewer"].map { name in
            var status = stat()
            #expect(unsafe stat("\(bench.directory)/\(name).sock", &status) == 0)
            return status.st_mode & 0o777
        }
        #expect(modes == [0o600, 0o600, 0o660])
        let notes = bench.log.all.filter { $0.hasPrefix("caution") }
        #expect(notes.count == 1 && notes[0].contains("submit.sock"))
        #expect(notes.allSatisfy { $0.contains("'no-such-group'") && $0.contains("create it") })
    }

    @Test func `a group is found by number or name`() throws {
        #expect(try SocketGroup.id(of: nil, "server.submit_group") == nil)
        #expect(try SocketGroup.id(of: "4711", "server.submit_group") == 4711)
        #expect(try SocketGroup.id(of: "root", "server.submit_group") == 0)
        #expect {
            try SocketGroup.id(of: "no-such-group", "server.submit_group")
        } throws: { error in
            "\(error)".contains("cannot use server.submit_group 'no-such-group'")
        }
    }
}
