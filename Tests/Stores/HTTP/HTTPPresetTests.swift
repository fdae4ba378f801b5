import Engine
import FoundationEssentials
import Lifecycle
import Settings
import Testing

@testable import Stores

/// A preset with what an operator adds to it, and how an erasure ends.
struct PresetCase: Sendable, CustomStringConvertible {
    let name: String
    /// As the vendor's ids look.
    var user = "ann"
    var values: [String: String] = [:]
    /// The vendor only promises.
    var isAccepted = false
    /// The sections that follow.
    var more = ""

    var description: String { name }

    static let all = [
        PresetCase(name: "stripe", user: "cus_NffrFeUfNV2Hib"),
        PresetCase(name: "intercom", isAccepted: true),
        PresetCase(name: "hubspot", user: "4301"),
        PresetCase(name: "amplitude", values: ["api_key": "api-key"], isAccepted: true),
        PresetCase(name: "posthog", values: ["project_id": "4242"]),
        PresetCase(name: "braze"),
        PresetCase(
            name: "algolia",
            values: ["index": "posts", "attribute": "author_id", "application_id": "APP1"]
        ),
        PresetCase(
            name: "onesignal",
            values: ["app_id": "11111111-2222-4333-8444-555555555555"]
        ),
        PresetCase(
            name: "auth0",
            user: "auth0|5f7c8ec7c33c6c004bbafe82",
            values: ["client_id": "c1", "domain": "example.eu.auth0.com"]
        ),
        PresetCase(name: "okta", user: "00ub0oNGTSWTBKOLGLNR", isAccepted: true),
        PresetCase(
            name: "elasticsearch",
            values: ["username": "expunged", "index": "posts", "field": "author_id"]
        ),
        PresetCase(
            name: "meilisearch",
            values: ["index": "posts", "attribute": "author_id", "primary_key": "post_id"]
        ),
        PresetCase(name: "typesense", values: ["collection": "posts", "field": "author_id"]),
        PresetCase(name: "mailchimp", user: "ann@example.com", values: ["list_id": "9e67587f52"]),
        // Stored in lower case.
        PresetCase(name: "sendgrid", user: "Ann@example.com"),
        PresetCase(name: "segment", isAccepted: true),
        PresetCase(
            name: "zendesk",
            user: "189304711533",
            values: ["agent": "ops@example.com"]
        ),
        PresetCase(name: "revenuecat", values: ["project_id": "proj1ab2c3d4"]),
        PresetCase(
            name: "mixpanel",
            values: ["token": "591b3354bb2bdd96f72f23bf56911673"],
            isAccepted: true
        ),
        PresetCase(
            name: "customer-io",
            values: ["site_id": "site-1"],
            more: """
                [store.verify_host]
                base_url = "{stand-in}"
                key_credential = "app-key"
                scheme = "bearer"

                """
        ),
    ]

    var text: String {
        let pairs = values.sorted { $0.key < $1.key }.map { "\($0.key) = \"\($0.value)\"" }
        let values = pairs.isEmpty ? "" : "values = { \(pairs.joined(separator: ", ")) }\n"
        return "preset = \"\(name)\"\nkey_credential = \"key\"\n" + values + more
    }
}

@Suite("Presets of HTTP APIs", .serialized)
struct HTTPPresetTests {
    private static let shared = Result { try HTTPServer() }
    private let server: HTTPServer

    init() throws { server = try Self.shared.get() }

    @Test("each has a case here, and cites the vendor")
    func areListed() throws {
        #expect(HTTPPreset.names == PresetCase.all.map(\.name))
        let sections = try HTTPPreset.sections.get()
        #expect(sections.compactMap { $0.text("name") } == HTTPPreset.names)
        let file = String(decoding: PackageResources.presets_toml, as: UTF8.self)
        for preset in file.split(separator: "\n[[store]]\n").dropFirst() {
            let pages = preset.firstMatch(of: /\n# Read on [0-9-]{10}:\n# [a-z0-9.]+\//)
            #expect(pages != nil, "\(preset.prefix(20))")
        }
    }

    @Test("the table of presets names each, what an operator adds, and what the vendor promises")
    func page() throws {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let text = try String(
            contentsOf: root.appending(path: "docs/stores/presets.md"),
            encoding: .utf8
        )
        let rows = text.matches(of: /\| `(?<name>[a-z0-9-]+)` \| (?<rest>.*)/).map(\.output)
        #expect(rows.map { String($0.name) } == HTTPPreset.names)
        for row in rows {
            let preset = try #require(PresetCase.all.first { $0.name == row.name })
            #expect(row.rest.contains("| accepted, ") == preset.isAccepted, "\(preset)")
            #expect(row.rest.contains("| verified") != preset.isAccepted, "\(preset)")
            for value in preset.values.keys {
                #expect(row.rest.contains(value), "\(value) of \(preset)")
            }
        }
    }

    /// Purges and verifies until both are over, as the service does.
    private func finish(_ store: HTTPStore, _ order: PurgeOrder) async -> PurgeCounts? {
        var counts = PurgeCounts()
        for _ in 0..<20 {
            guard case .done(let done) = await store.purge([order])[0] else { continue }
            counts.add(done)
            for _ in 0..<3 {
                switch await store.verify([order])[0] {
                case .clean, .notLookedFor: return counts
                case .remaining where counts.isAccepted: return counts
                case .remaining: continue
                case .failure: continue
                }
            }
        }
        return nil
    }

    @Test(
        "erases the user and nobody else, and says what the vendor says",
        arguments: PresetCase.all
    )
    func erases(preset: PresetCase) async throws {
        let before = try server.reset(preset.name, user: preset.user)
        #expect(before.left > 0)
        let order = try GoogleBench.order(preset.user)
        try await server.with(preset.text, of: preset.name, step: .seconds(3)) { store in
            #expect(await store.diagnose() == [])
            let counts = try #require(await finish(store, order))
            #expect(counts.isAccepted == preset.isAccepted)
            #expect((counts.acceptedUntil != nil) == preset.isAccepted)
            // Again, as after a crash.
            _ = try #require(await finish(store, order))
        }
        let after = try server.state(preset.name)
        #expect(after.left == 0 && after.others == before.others, "\(after.calls)")
    }

    @Test("any call may fail, or lose its answer", arguments: PresetCase.all)
    func survives(preset: PresetCase) async throws {
        let order = try GoogleBench.order(preset.user)
        for kind in ["cut", "lost"] {
            for number in 1...3 {
                let others = try server.reset(preset.name, user: preset.user).others
                try server.fail(preset.name, at: number, kind)
                try await server.with(preset.text, of: preset.name, step: .seconds(3)) { store in
                    _ = try #require(await finish(store, order), "\(kind) at \(number)")
                }
                let after = try server.state(preset.name)
                #expect(after.left == 0 && after.others == others, "\(kind) at \(number)")
            }
        }
    }

    /// Purges and verifies at a place of the stand-in that is another one.
    private func isUntouched(_ preset: PresetCase, at place: String) async throws {
        let order = try GoogleBench.order(preset.user)
        let before = try server.reset(preset.name, user: preset.user)
        try await server.with(preset.text, of: place, step: .seconds(3)) { store in
            let answer = await store.purge([order])[0]
            if case .failure = answer {} else { Issue.record("\(answer)") }
            if case .clean = await store.verify([order])[0] { Issue.record("clean") }
        }
        let after = try server.state(preset.name)
        #expect(after.left == before.left && after.others == before.others)
    }

    @Test("a 404 of a wrong address is no erasure", arguments: PresetCase.all)
    func isElsewhere(preset: PresetCase) async throws {
        try await isUntouched(preset, at: preset.name + "/elsewhere")
    }

    @Test("a 404 of another app is no erasure")
    func isAnotherApp() async throws {
        var preset = try #require(PresetCase.all.first { $0.name == "onesignal" })
        preset.values["app_id"] = "22222222-2222-4333-8444-555555555555"
        try await isUntouched(preset, at: preset.name)
    }

    @Test("an answer that says nothing is no erasure", arguments: PresetCase.all)
    func believes(preset: PresetCase) async throws {
        let order = try GoogleBench.order(preset.user)
        for kind in ["html", "redirect", "403", "503", "400"] {
            let before = try server.reset(preset.name, user: preset.user)
            try server.fail(preset.name, at: 0, kind)
            try await server.with(preset.text, of: preset.name, step: .seconds(3)) { store in
                let answer = await store.purge([order])[0]
                guard case .failure = answer else {
                    Issue.record("\(kind): \(answer)")
                    return
                }
                if case .clean = await store.verify([order])[0] { Issue.record("\(kind): clean") }
            }
            let after = try server.state(preset.name)
            #expect(after.left == before.left && after.others == before.others, "\(kind)")
        }
    }
}
