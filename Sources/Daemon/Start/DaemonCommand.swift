import CExecutor
import CLinux
import ControlServer
import Encoding
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
            let options = try DaemonOptions(arguments, environment: environment)
            return try await obey(options, environment).rawValue
        } catch let logged as Logged {
            return exitStatus(of: logged.error).rawValue
        } catch {
            complain("\(error)", environment)
            return exitStatus(of: error).rawValue
        }
    }

    private static func exitStatus(of error: any Error) -> ExitStatus {
        if let problem = error as? StartProblem { return exitStatus(of: problem.error) }
        if let error = error as? DaemonError { return error.exitStatus }
        let isForOperator = error is ConfigurationError || error is VaultSetupError
        return isForOperator ? .configuration : .place
    }

    /// An error that the journal has already, with its id.
    private struct Logged: Error {
        let error: any Error
    }

    private static func obey(
        _ options: DaemonOptions,
        _ environment: [String: String]
    ) async throws -> ExitStatus {
        switch options.verb {
        case .help:
            say(DaemonOptions.help)
        case .version:
            say("expunged \(Daemon.version)")
        case .generateVaultKey(let path):
            let id = try KeyGenerator.makeVaultKey(at: path)
            say("wrote a new vault key with id \(id) to '\(path)'; keep a copy apart from state.db")
        case .setup:
            let setup = ServiceSetup(
                configuration: options.configurationPath,
                credentials: options.credentialsDirectory ?? DaemonOptions.credentialsOfUnit
            )
            say(try setup.run(uid: geteuid()))
        case .backup(let file):
            say(try backUp(to: file, options, environment))
        case .restore(let file):
            say(try restore(file, options, environment))
        case .checkConfiguration:
            let configuration = try load(options, environment)
            for caution in configuration.cautions { say("caution: \(caution)") }
            say("'\(options.configurationPath)' is fine")
        case .initSpool:
            let directories = try options.directories(environment)
            let place = SpoolPlace(stateDirectory: directories.state)
            try place.makeIfMissing()
            say("the spool is '\(place.path)'")
        case .initState:
            say(try initState(options, environment))
        case .migrateState(let kind):
            say(try migrateState(from: kind, options, environment))
        case .check:
            return try await check(options, environment)
        case .run:
            try await serve(options, environment)
        }
        return .done
    }

    private static func check(
        _ options: DaemonOptions,
        _ environment: [String: String]
    ) async throws -> ExitStatus {
        let path = options.configurationPath
        if let arguments = options.argumentsAsService { try ServiceUnit.runAgain(arguments) }
        try setUpProcess(environment)
        _ = clinux_forbid_core_dumps()
        let folders = try options.directories(environment, mayBeUnit: true)
        let found = await SystemCheck(
            options: options,
            environment: environment,
            folders: folders
        ).run()
        let (text, status) = SystemCheck.report(
            found,
            asJSON: options.isJSON,
            path,
            shareable: shareable(options, environment)
        )
        say(text)
        return status
    }

    /// The configuration without what may not leave the machine; `nil` for one that is not valid.
    static func shareable(_ options: DaemonOptions, _ environment: [String: String]) -> String? {
        do {
            let configuration = try load(options, environment)
            return EffectiveConfiguration(isShareable: true).text(of: configuration.sections)
        } catch {
            // The findings say why.
            return nil
        }
    }

    private static func serve(
        _ options: DaemonOptions,
        _ environment: [String: String]
    ) async throws {
        try setUpProcess(environment)
        let activation = try SocketActivation.take()
        _ = clinux_forbid_core_dumps()
        let output = options.logOutput ?? .choose(environment: environment)
        let queue = try LogQueue(output: output)
        defer { _ = queue.flush(timeout: .seconds(2)) }
        let alarms = AlarmQueue()
        var logger = Logger(label: "expunged") { _ in
            JournalLogHandler(queue: queue) { alarms.offer($0) }
        }
        do {
            let configuration = try load(options, environment)
            logger.logLevel = Logger.Level(rawValue: configuration.journal.level.rawValue) ?? .info
            let builder = DaemonBuilder(
                options: options,
                environment: environment,
                activation: activation,
                logger: logger,
                alarms: alarms
            )
            let daemon = try await TimeoutExtension(notifier: ServiceNotifier()).during {
                try await builder.build(configuration)
            }
            try await daemon.run()
        } catch {
            for line in "\(error)".split(separator: "\n") {
                logger.note(
                    error is ConfigurationError ? .configurationRefused : .serviceFailed,
                    ["error": "\(line)"]
                )
            }
            throw output == .standardError ? error : Logged(error: error)
        }
    }

    static func load(
        _ options: DaemonOptions,
        _ environment: [String: String]
    ) throws(ConfigurationError) -> DaemonConfiguration {
        try DaemonConfiguration.load(path: options.configurationPath, environment: environment)
    }

    /// Must happen before the first task and the first use of SQLite.
    private static func setUpProcess(_ environment: [String: String]) throws {
        clinux_bound_heaps()
        _ = clinux_raise_descriptors(ServerLimits.descriptorsMax)
        StateDatabase.configureProcess()
        try TaskThreads.install(environment: environment)
    }

    private static func say(_ text: String) {
        FileBytes.write(Array("\(text)\n".utf8), to: STDOUT_FILENO)
    }

    /// The prefix makes journald file the lines as errors (sd-daemon(3)).
    private static func complain(_ text: String, _ environment: [String: String]) {
        let prefix = LogOutput.choose(environment: environment) == .journal ? "<3>" : ""
        for line in text.split(separator: "\n") {
            let kind = line.hasPrefix("hint: ") ? "" : "error: "
            FileBytes.write(Array("\(prefix)\(kind)\(line)\n".utf8), to: STDERR_FILENO)
        }
    }
}

/// The threads that run tasks: a small pool of our own, or the executor of the Swift runtime.
enum TaskThreads {
    enum Choice: String {
        case pool
        /// About two wake-ups a second more while idle.
        case stock
    }

    static let variable = "EXPUNGED_EXECUTOR"

    /// The pool takes over internal hooks of the runtime, so only on versions that were tested.
    #if compiler(>=6.3) && compiler(<6.4)
    private static let isRuntimeVerified = true
    #else
    private static let isRuntimeVerified = false
    #endif

    /// One more than a thread that is busy for long.
    private static let threadCountMin = 2
    /// Calls wait in event loops and databases in queues; tasks alone never need more.
    private static let threadCountMax = 8

    /// Installs the pool where it can be used; call it before the first task.
    @discardableResult static func install(environment: [String: String]) throws -> Choice {
        let named = environment[variable] ?? (isRuntimeVerified ? Choice.pool : .stock).rawValue
        guard let choice = Choice(rawValue: named) else {
            throw DaemonError(
                .usage,
                "\(variable) is '\(named)': give 'pool' or 'stock', or leave it unset"
            )
        }
        guard choice == .pool else { return .stock }
        let processorCount = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let answer = cexecutor_install(
            Int32(min(max(processorCount, threadCountMin), threadCountMax))
        )
        if answer == -ENOSYS { return .stock }
        guard answer == 0 else {
            let cause = ErrorNumber(-answer)
            throw DaemonError(.state, "cannot start threads (no_resources): \(cause)")
        }
        return .pool
    }
}
