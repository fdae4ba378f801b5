import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Vault: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the vault's keys, or wrap everything anew under the active one.",
        subcommands: [List.self, Rotate.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the keys, who depends on them, and how far a rotation is."
        )

        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let vault = try await global.withClient { try await $0.vault() }
            try global.print(vault, VaultReport.text(vault))
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Wrap every user's data key anew in the background; survives restarts."
        )

        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let vault = try await global.withClient { try await $0.rotateVault() }
            try global.print(vault, VaultReport.text(vault))
        }
    }
}
