import ArgumentParser
import Control
import ControlClient
import Glibc
import Lifecycle

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the state of the service.")

    @OptionGroup var global: GlobalOptions

    func run() async throws { try await global.show(.status, HealthReport.status) }
}

struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the configuration in force as TOML; secrets are names of credentials."
    )

    @Flag(help: "Only what differs from the default.") var nonDefault = false
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.show(.settings(nonDefault ? .nonDefault : .all), Self.text)
    }

    static func text(_ settings: WireSettings) -> String {
        let waiting = settings.needRestart.map { "# needs a restart: \($0)\n" }
        return waiting.joined() + settings.configuration.dropLast()
    }
}

struct Intake: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop or start accepting requests.",
        subcommands: [Pause.self, Resume.self]
    )

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Stop accepting requests.")

        @OptionGroup var global: GlobalOptions

        func run() async throws { try await Intake.set(isPaused: true, global) }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Accept requests again.")

        @OptionGroup var global: GlobalOptions

        func run() async throws { try await Intake.set(isPaused: false, global) }
    }

    private static func set(isPaused: Bool, _ global: GlobalOptions) async throws {
        try await global.show(.setIntake(isPaused: isPaused)) {
            $0.isIntakePaused ? "intake paused" : "intake open"
        }
    }
}

struct Guard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open the guard against mass deletion.",
        subcommands: [Override.self]
    )

    struct Override: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Open the guard once, within an hour, for a number of deletions."
        )

        @Option(help: "Deletions beyond the limit (default: as many as wait).") var count: Int?
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard count.map({ (1...Int(ControlLimits.overrideMax)).contains($0) }) ?? true else {
                throw ValidationError("--count takes 1 to \(ControlLimits.overrideMax)")
            }
        }

        func run() async throws {
            let input = OverrideInput(count: count)
            try await global.show(.overrideGuard(input), HealthReport.guardLine)
        }
    }
}

struct Hosts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the hosts that share a state in PostgreSQL."
    )

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.show(.hosts) { answer in
            guard !answer.items.isEmpty else { return "this host alone: the state is in a file" }
            var table = Table("HOST", "ROLE", "PARTITIONS", "RENEWED")
            for host in answer.items {
                let role = host.isSteward ? "steward" : host.partitions > 0 ? "worker" : "away"
                let name = host.isThis ? host.name + " (this)" : host.name
                table.add(name, role, "\(host.partitions)", host.renewedAt.rfc3339)
            }
            return table.text
        }
    }
}

struct Vault: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the vault's keys, or wrap all data keys under the active one.",
        subcommands: [List.self, Rotate.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the keys, their users, and the progress of a rotation."
        )

        @OptionGroup var global: GlobalOptions

        func run() async throws { try await global.show(.vault, VaultReport.text) }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Wrap every user's data key in the background, across restarts.",
            discussion: "On a terminal, shows the progress; Ctrl-C ends only that."
        )

        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let vault = try await global.withClient { client in
                var vault = try await client.call(.rotateVault)
                let progress = Progress(global)
                defer { progress.end() }
                while progress.isShown, vault.rotation.state.known == .running {
                    progress.say("\(vault.rotation.rewrapped) data keys wrapped anew")
                    try await client.pause(.seconds(1))
                    vault = try await client.call(.vault)
                }
                return vault
            }
            try global.print(vault, VaultReport.text(vault))
        }
    }
}

struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read the configuration again; a bad one changes nothing."
    )

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.show(.reload) { answer in
            var lines = ["reloaded at \(answer.reloadedAt.rfc3339)"]
            lines += answer.changed.map { "changed: \(Table.harmless($0))" }
            lines += answer.unusable.map { "paused: \(Table.harmless($0))" }
            lines += answer.needRestart.map { "needs a restart: \(Table.harmless($0))" }
            return lines.joined(separator: "\n")
        }
    }
}

struct Metrics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the metrics as Prometheus text."
    )

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let text = try await global.call(.metrics)
        Console.write(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    }
}

enum VaultReport {
    static func text(_ vault: WireVault) -> String {
        var facts = Table("vault", vault.isSealed ? "sealed" : "open")
        facts.add("wraps", "\(vault.wraps) of \(vault.wrapsMax)")
        facts.add("rotation", rotation(vault.rotation))
        var keys = Table("KEY", "STATE", "USERS")
        for key in vault.keys {
            let isUnused = key.state.known == .retired && key.users == 0
            keys.add(key.id, key.state.description, isUnused ? "0 (unused)" : "\(key.users)")
        }
        return facts.text + "\n" + keys.text
    }

    private static func rotation(_ rotation: WireKeyRotation) -> String {
        var line = rotation.state.description
        if rotation.state.known != .idle { line += ", \(rotation.rewrapped) wrapped anew" }
        if rotation.unreadable > 0 { line += ", \(rotation.unreadable) unreadable" }
        if let error = rotation.error { line += ", \(error)" }
        return line
    }
}

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the configuration, what it names, and the machine.",
        discussion: """
            Runs expunged --check; as root in the sandbox of the service and as its user. Changes \
            nothing and needs no running service. Ends with 1 after an error, and else with 77 if \
            it could not examine everything.
            """
    )

    @Option(help: ArgumentHelp("The configuration.", valueName: "file"), completion: .file())
    var config: String?
    @Flag(help: "Print JSON, for programs.") private var json = false

    func run() throws {
        var arguments = ["expunged", "--check"]
        if geteuid() == 0 { arguments.append("--as-service") }
        if GlobalOptions.leading.isJSON { arguments.append("--json") }
        if let config { arguments += ["--config", config] }
        for path in ["/usr/sbin/expunged", "/usr/local/sbin/expunged", "expunged"] {
            let pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
            unsafe execvp(path, pointers)
        }
        throw CommandFailure(
            message: "cannot run expunged: error \(errno)",
            hint: "is it installed?",
            code: .failure
        )
    }
}
