package import Engine
package import HTTP
import Lifecycle
package import Settings

/// One `[[queue]]` section.
package struct QueueConfiguration: Sendable {
    package let name: String
    package let kind: any QueueKind

    /// The keys of `[[queue]]`.
    package static func settings(_ kinds: [any QueueKind.Type]) -> [Setting] {
        .of(
            .queue,
            kinds,
            common: [
                Setting(
                    .queue,
                    "name",
                    .text(.name),
                    .required(example: .text("app")),
                    "Name in the journal and metrics. Under another name every row is new."
                ).atRestart(),
                Setting(
                    .queue,
                    "kind",
                    .choice(kinds.map { $0.name }),
                    .required(example: .text(kinds.first?.name ?? "")),
                    SettingsTable.summaries(of: kinds)
                ).atRestart(),
            ]
        )
    }

    /// `tls` of a server, and its default.
    static func tls<Choice>(_ value: Choice) -> Setting
    where Choice: RawRepresentable<String>, Choice: CaseIterable {
        Setting(
            .queue,
            "tls",
            .choice(Choice.allCases.map(\.rawValue)),
            .defaultsTo(.text(value.rawValue)),
            "As tls of a [[store]] of this kind."
        ).atRestart()
    }

    /// Connects with each ``Engine/QueueServer/open()``, which also reads the credential.
    package func open(_ adapters: AdapterEnvironment) -> any QueueServer {
        kind.open(QueueEnvironment(name: name, adapters: adapters))
    }
}

/// A kind of database that has a queue.
package protocol QueueKind: SectionKind, Hashable {
    /// The longest wait before the service looks for rows; `nil` where the server says when some
    /// came.
    var pollInterval: Duration? { get }

    /// Reads a section; reports what no single key can tell.
    init(_ section: inout SettingsSection, _ problems: inout SectionProblems)

    func open(_ environment: QueueEnvironment) -> any QueueServer
}

/// What a queue is opened with, besides its settings.
package struct QueueEnvironment: Sendable {
    package let name: String
    let adapters: AdapterEnvironment

    var clock: StoreClock { .system(wall: adapters.now) }
    var owner: RemoteOwner { .queue(name) }
}

extension ConfigurationReader {
    /// Reads `[[queue]]`.
    package mutating func readQueues() -> [QueueConfiguration] {
        var queues: [QueueConfiguration] = []
        for var section in named(.queue) {
            let made = (section.kind as? any QueueKind.Type).map { kind in
                read(&section) { section, problems in
                    QueueConfiguration(
                        name: section.requiredText("name"),
                        kind: kind.init(&section, &problems)
                    )
                }
            }
            append(section)
            if let made { queues.append(made) }
        }
        return queues
    }
}
