import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Notification: AsyncParsableCommand {
    private static let fields = NotificationInput.fieldNames.joined(separator: ", ")

    static let configuration = CommandConfiguration(
        abstract: "Pass on a notification that a provider sent to your web server.",
        discussion: """
            Reads the body from standard input. Prints the answer for the provider and the effect \
            of the notification; the exit status is 1 if the service refused it. \
            Header fields that are passed on: \(fields).
            """
    )

    @Argument(help: "The provider that sent it.") var provider: ProviderName
    @Option(help: ArgumentHelp("A header field that came with it.", valueName: "name: value"))
    var header: [FieldArgument] = []
    @Option(
        help: "Header fields, one per line; authorization only here: it is a secret.",
        completion: .file()
    )
    var headerFile: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        for field in header where field.name == "authorization" {
            throw ValidationError("pass authorization with --header-file: it is a secret")
        }
    }

    func run() async throws {
        let body = try InputFile.bytes("-", countMax: ControlLimits.bodyByteCountMax)
        let input = NotificationInput(body: body, fields: try fields())
        let answer = try await global.show(
            .takeNotification(input, provider: provider),
            Self.text
        )
        if answer.effect == .known(.refused) { throw CommandStatus.failure }
    }

    private func fields() throws -> [String: String] {
        var all = header
        if let headerFile {
            let bytes = try InputFile.bytes(headerFile, countMax: ControlLimits.bodyByteCountMax)
            for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
                guard let field = FieldArgument(argument: String(line)) else {
                    throw ValidationError("a line of \(headerFile) is not NAME: VALUE")
                }
                all.append(field)
            }
        }
        return Dictionary(all.map { ($0.name, $0.value) }) { first, _ in first }
    }

    private static func text(_ answer: WireNotification) -> String {
        var lines = ["answer  \(answer.status)"]
        if let type = answer.contentType { lines.append("type    \(Table.harmless(type))") }
        if !answer.body.isEmpty { lines.append("body    \(Table.harmless(answer.body))") }
        let reason = answer.reason.map { " (\(Table.harmless($0)))" } ?? ""
        lines.append("effect  \(Table.harmless("\(answer.effect)"))\(reason)")
        if let id = answer.requestID { lines.append("request \(id)") }
        return lines.joined(separator: "\n")
    }
}

struct NotificationStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification-status",
        abstract: "Show the text of the status page for a confirmation code."
    )

    @Argument(help: "The provider that got the code.") var provider: ProviderName
    @Argument(help: "The confirmation code.") var code: String
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.show(.notificationStatus(code, provider: provider)) {
            Table.harmless("\($0.state)") + "\n" + Table.harmless($0.text)
        }
    }
}

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
