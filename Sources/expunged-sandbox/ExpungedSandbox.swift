import ArgumentParser
import Glibc

/// The provider sandbox: identity providers that follow their vendors' documentation, with traps.
@main
struct ExpungedSandbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "expunged-sandbox",
        abstract: "Stand-ins for identity providers, to test a deletion flow against.",
        discussion: """
            Start one with 'serve'. The other commands talk to the sandbox of a directory and \
            print JSON; they are about Apple unless --provider names another. The sandbox \
            listens at 127.0.0.1 only and holds no real account.
            """,
        subcommands: [
            ServeCommand.self, ClientsCommand.self, SignInCommand.self, TokensCommand.self,
            WithdrawCommand.self,
            GrantsCommand.self, LogCommand.self, FaultCommand.self, ClockCommand.self,
            RotateKeysCommand.self, RegisterClientCommand.self, ClientSecretCommand.self,
            CloudCommand.self, ServiceAccountCommand.self,
        ]
    )
}

/// Standard output, unbuffered: a script that waits for the ready line must get it.
enum Output {
    static func line(_ text: String) {
        var rest = Array((text + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
