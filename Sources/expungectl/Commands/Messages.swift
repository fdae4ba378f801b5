import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Messages: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the messages to subscribers and by mail, or deliver one again.",
        subcommands: [MessageList.self, Redeliver.self],
        defaultSubcommand: MessageList.self
    )

    static func table(_ messages: [WireMessage]) -> String {
        var table = Table("ID", "SUBSCRIBER", "TYPE", "STATE", "TRIES", "LAST")
        for message in messages {
            let last = [message.httpStatus.map(String.init), message.error].compactMap { $0 }
            table.add(
                message.id.description,
                message.subscriber,
                message.type,
                "\(message.state)",
                "\(message.attempts)",
                last.isEmpty ? nil : last.joined(separator: " ")
            )
        }
        return table.text
    }
}

struct MessageList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the newest messages, 100 at a time."
    )

    @Flag(help: "Only those that wait for an attempt.") var waiting = false
    @Option(help: ArgumentHelp("Only messages before this one.", valueName: "id"))
    var before: MessageID?
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let query = MessageQuery(cursor: before, isWaiting: waiting)
        try await global.show(.messages(query)) { Messages.table($0.items) }
    }
}

struct Redeliver: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Deliver a message again, under the same id."
    )

    @Argument(help: "The message.") var id: MessageID
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.show(.redeliver(id)) { Messages.table([$0]) }
    }
}

extension MessageID: ExpressibleByArgument {}
