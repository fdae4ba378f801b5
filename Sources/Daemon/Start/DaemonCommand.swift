import CLinux
import Glibc
import Lifecycle
import Logging
import Settings
import Storage
import Systemd
import Vault

/// The program `expunged`: reads its arguments and does what they ask.
package enum DaemonCommand {
    /// Runs to the end and returns the exit status; `arguments` is without the program's name.
    package static func run(_ arguments: [String], environment: [String: String]) async -> Int32 {
        do {
            try await obey(try DaemonOptions(arguments), environment)
            return 0
        } catch let error as DaemonError {
            complain("\(error)")
            return error.exitStatus
        } catch let error as ConfigurationError {
            complain("\(error)")
            return 78
        } catch {
            complain("\(error)")
            return 74
        }
    }

    private static func obey(_ options: DaemonOptions, _ environment: [String: String]) async throws
    {
        switch options.verb {
        case .help:
            say(DaemonOptions.help)
        case .version:
            say("expunged \(Daemon.version)")
        case .generateVaultKey(let path):
            let id = try KeyGenerator.makeVaultKey(at: path)
            say("wrote a new vault key with id \(id) to '\(path)'; keep a copy apart from state.db")
        case .checkConfiguration:
            let configuration = try DaemonConfiguration.load(path: options.configurationPath)
            for caution in configuration.cautions { say("caution: \(caution)") }
            say("'\(options.configurationPath)' is fine")
        case .initSpool:
            let directories = try ServiceDirectories(
                environment: environment,
                overrides: .init(state: options.stateDirectory)
            )
            let place = SpoolPlace(stateDirectory: directories.state)
            try place.prepare()
            say("the spool is '\(place.path)'")
        case .run:
            try await serve(options, environment)
        }
    }

    private static func serve(
        _ options: DaemonOptions,
        _ environment: [String: String]
    ) async throws {
        try setUpProcess(environment)
        let activation = try SocketActivation.take()
        _ = clinux_forbid_core_dumps()
        let configuration = try DaemonConfiguration.load(path: options.configurationPath)
        let queue = try LogQueue(output: LogOutput.choose(environment: environment))
        defer { _ = queue.flush(timeout: .seconds(2)) }
        let level = Logger.Level(rawValue: configuration.journal.level.rawValue) ?? .info
        let logger = Logger(label: "expunged") { _ in JournalLogHandler(queue: queue, level: level)
        }
        let builder = DaemonBuilder(
            options: options,
            environment: environment,
            activation: activation,
            logger: logger
        )
        do {
            try await builder.build(configuration).run()
        } catch {
            logger.critical("the service cannot go on", metadata: ["error": "\(error)"])
            throw error
        }
    }

    /// Must happen before the first task and the first use of SQLite.
    private static func setUpProcess(_ environment: [String: String]) throws {
        clinux_bound_heaps()
        StateDatabase.configureProcess()
        try TaskThreads.install(environment: environment)
    }

    private static func say(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

    private static func complain(_ text: String) {
        for line in text.split(separator: "\n") { write("error: \(line)\n", to: STDERR_FILENO) }
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
