package import Systemd

/// What the command line of `expunged` asks for.
package struct DaemonOptions: Sendable, Hashable {
    /// What to do.
    package enum Verb: Sendable, Hashable {
        case run
        case checkConfiguration
        /// Everything that the configuration names, and the machine.
        case check
        case initSpool
        /// In PostgreSQL.
        case initState
        /// Into the other kind of database.
        case migrateState(from: StateConfiguration.Kind)
        case generateVaultKey(path: String)
        case setup
        case backup(file: String)
        case restore(file: String)
        case version
        case help
    }

    static let configurationOfUnit = "/etc/expunged/expunged.toml"

    package var verb = Verb.run
    package var configurationPath = Self.configurationOfUnit
    package var stateDirectory: String?
    package var runtimeDirectory: String?
    package var credentialsDirectory: String?
    package var logsDirectory: String?
    /// `nil`: the journal where standard error leads to it, else text.
    package var logOutput: LogOutput?
    package var isJSON = false
    /// To check as the service's user, in the sandbox of its unit, with these arguments.
    package var argumentsAsService: [String]?

    /// Reads the arguments after the program's name, which win over variables; errors are of kind
    /// `usage`.
    package init(
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws(DaemonError) {
        if let path = environment["EXPUNGED_CONFIG"] { configurationPath = path }
        if let name = environment["EXPUNGED_LOG_FORMAT"] {
            logOutput = try Self.output(name, "$EXPUNGED_LOG_FORMAT")
        }
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--check-config": verb = .checkConfiguration
            case "--check": verb = .check
            case "--json": isJSON = true
            case "--as-service":
                argumentsAsService = ["--config", configurationPath] + arguments
                argumentsAsService?.removeAll { $0 == argument }
            case "--init-spool": verb = .initSpool
            case "setup": verb = .setup
            case "state":
                verb = try Self.stateVerb(&rest)
            case "backup": verb = .backup(file: try Self.value(of: argument, &rest))
            case "restore": verb = .restore(file: try Self.value(of: argument, &rest))
            case "--version": verb = .version
            case "--help", "-h": verb = .help
            case "--generate-vault-key":
                verb = .generateVaultKey(path: try Self.value(of: argument, &rest))
            case "--config": configurationPath = try Self.value(of: argument, &rest)
            case "--state-directory": stateDirectory = try Self.value(of: argument, &rest)
            case "--runtime-directory": runtimeDirectory = try Self.value(of: argument, &rest)
            case "--credentials-directory":
                credentialsDirectory = try Self.value(of: argument, &rest)
            case "--log-format":
                logOutput = try Self.output(try Self.value(of: argument, &rest), argument)
            case "--logs-directory": logsDirectory = try Self.value(of: argument, &rest)
            default:
                throw DaemonError(.usage, "unknown argument '\(argument)'; see expunged --help")
            }
        }
    }

    private static func output(_ name: String, _ place: String) throws(DaemonError) -> LogOutput {
        guard let output = LogOutput.names[name] else {
            let names = LogOutput.names.keys.sorted().joined(separator: ", ")
            throw DaemonError(
                .usage,
                "\(place) is '\(LogText.sanitized(name))', and must be one of: \(names)"
            )
        }
        return output
    }

    private static func stateVerb(_ rest: inout ArraySlice<String>) throws(DaemonError) -> Verb {
        switch try value(of: "state", &rest) {
        case "init": return .initState
        case "migrate":
            guard try value(of: "state migrate", &rest) == "--from",
                let kind = StateConfiguration.Kind(rawValue: try value(of: "--from", &rest))
            else { throw DaemonError(.usage, "state migrate needs --from sqlite|postgresql") }
            return .migrateState(from: kind)
        default: throw DaemonError(.usage, "state knows the verbs init and migrate")
        }
    }

    private static func value(
        of name: String,
        _ rest: inout ArraySlice<String>
    ) throws(DaemonError) -> String {
        guard let value = rest.popFirst() else {
            throw DaemonError(.usage, "\(name) needs a value; see expunged --help")
        }
        return value
    }

    package static let help = """
        usage: expunged [--config FILE] [--state-directory DIR] [--runtime-directory DIR]
                        [--credentials-directory DIR] [--logs-directory DIR]
                        [--log-format journal|json|text]
               expunged setup [--config FILE] [--credentials-directory DIR]
               expunged backup FILE | restore FILE [--config FILE] [...-directory DIR]
               expunged state init [--config FILE] [--credentials-directory DIR]
               expunged state migrate --from sqlite|postgresql [--config FILE] [...-directory DIR]
               expunged --check [--json] [--as-service] [--config FILE] [...-directory DIR]
               expunged --check-config [--config FILE]
               expunged --init-spool [--state-directory DIR]
               expunged --generate-vault-key FILE
               expunged --version | --help

        Carries account deletions to their end: revokes tokens, purges stores, verifies both.

          setup                        create the vault key and a first configuration if they
                                       are missing, and say what comes next; as root
          backup FILE                  write the state and its keys into a new file, also while
                                       the service runs; no vault key and no spool in it
          restore FILE                 check such a file and its vault keys, put it in place of
                                       the state, and say what comes next; not while it runs
          state init                   make the tables of a state in PostgreSQL, once
          state migrate --from KIND    move the state from the file into these tables (sqlite), or
                                       back into a file (postgresql); while no service runs
          --config FILE                configuration (default $EXPUNGED_CONFIG, or
                                       /etc/expunged/expunged.toml); variables such as
                                       $EXPUNGED_JOURNAL_LEVEL win over it
          --state-directory DIR        private state and spool (default $STATE_DIRECTORY)
          --runtime-directory DIR      where to bind the sockets without systemd (default
                                       $RUNTIME_DIRECTORY)
          --credentials-directory DIR  vault key and provider keys (default $CREDENTIALS_DIRECTORY)
          --logs-directory DIR         checkpoints of the ledger (default $LOGS_DIRECTORY, or the
                                       state directory, where an old copy goes unnoticed)
          --log-format FORMAT          where messages go: journal, or json or text on standard error
                                       (default $EXPUNGED_LOG_FORMAT, or what is there)
          --check                      try everything that the configuration names, and the
                                       machine; each finding has a hint. Changes nothing
          --json                       with --check: print JSON
          --as-service                 with --check: as the service's user in its sandbox (root)
          --check-config               report every problem of the configuration, and stop
          --init-spool                 create the spool if there is none, and stop
          --generate-vault-key FILE    write a new vault key into a new file, and stop

        Exit status: 0 done, 1 --check found an error, 64 wrong usage, 74 state or socket unusable,
        77 --check could not examine everything, 78 configuration unusable.
        """
}

extension DaemonOptions {
    static let stateOfUnit = "/var/lib/expunged"
    static let credentialsOfUnit = "/etc/expunged/credentials"

    /// The directories of the options, else of the variables, else of the unit if it `mayBeUnit`.
    func directories(
        _ environment: [String: String],
        mayBeUnit: Bool = false
    ) throws(SystemdError) -> ServiceDirectories {
        let unit = [
            "STATE_DIRECTORY": Self.stateOfUnit, "LOGS_DIRECTORY": "/var/log/expunged",
            "CREDENTIALS_DIRECTORY": Self.credentialsOfUnit,
        ]
        return try ServiceDirectories(
            environment: mayBeUnit ? environment.merging(unit) { given, _ in given } : environment,
            overrides: .init(
                state: stateDirectory,
                runtime: runtimeDirectory,
                credentials: credentialsDirectory,
                logs: logsDirectory
            )
        )
    }
}
