import FoundationEssentials
import Sandbox
import Testing

@Suite("The manual page")
struct ManualTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("expunged-sandbox(1) has every command and every provider with its clients")
    func complete() throws {
        let page = try Self.text("docs/man/expunged-sandbox.1").replacing("\\-", with: "-")
        let folder = Self.root.appendingPathComponent("Sources/expunged-sandbox").path
        var commands = 0
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let source = try Self.text("Sources/expunged-sandbox/\(file)")
            for match in source.matches(of: /commandName: "([a-z-]+)"/) {
                commands += 1
                #expect(page.contains(".B \(match.1)\n") || match.1 == "expunged-sandbox")
            }
        }
        #expect(commands == 15)
        let configuration = SandboxConfiguration()
        let clients =
            configuration.oauth2.clients + configuration.google.clients
            + configuration.facebook.clients + configuration.microsoft.clients
            + configuration.github.clients + configuration.x.clients
        for client in clients {
            #expect(page.contains(client.clientID))
            #expect(page.contains(client.clientSecret ?? ""))
        }
        for tenant in configuration.microsoft.tenants {
            #expect(page.contains(tenant.id) && page.contains(tenant.domain))
        }
        for provider in SandboxProvider.allCases {
            #expect(page.contains(".B \(provider.rawValue)\n"))
        }
        for kind in FaultKind.allCases {
            #expect(page.contains(kind.rawValue))
        }
        let sections = page.split(separator: ".SH ")
        let notifications = try #require(sections.first { $0.hasPrefix("NOTIFICATIONS") })
        for event in SandboxProvider.allCases.flatMap(\.events) {
            #expect(notifications.contains(event), "\(event)")
        }
        for endpoint in SandboxEndpoint.allCases {
            #expect(page.contains(endpoint.rawValue))
        }
    }

    @Test("the help of withdraw-consent names the events of every provider that has some")
    func events() throws {
        let help = SandboxProvider.eventList
        for provider in SandboxProvider.allCases where !provider.events.isEmpty {
            #expect(help.contains(provider.rawValue), "\(provider)")
            for event in provider.events { #expect(help.contains(event), "\(event)") }
        }
        #expect(help.hasSuffix("github: revoked."))
        let source = try Self.text("Sources/expunged-sandbox/UserCommands.swift")
        #expect(source.contains("discussion: SandboxProvider.eventList"))
    }
}
