import ArgumentParser
import Control
import ControlClient
import Lifecycle

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

        func run() async throws {
            let vault = try await global.withClient { try await $0.vault() }
            try global.print(vault, VaultReport.text(vault))
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Wrap every user's data key in the background, across restarts."
        )

        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let vault = try await global.withClient { try await $0.rotateVault() }
            try global.print(vault, VaultReport.text(vault))
        }
    }
}
