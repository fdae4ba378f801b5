/// What the command line of `expunged` asks for.
package struct DaemonOptions: Sendable, Hashable {
    /// What to do.
    package enum Verb: Sendable, Hashable {
        case run
        case checkConfiguration
        case initSpool
        case generateVaultKey(path: String)
        case version
        case help
    }

    package var verb = Verb.run
    package var configurationPath = "/etc/expunged/expunged.toml"
    package var stateDirectory: String?
    package var runtimeDirectory: String?
    package var credentialsDirectory: String?
    package var logsDirectory: String?

    /// Reads the arguments after the program's name; errors are of kind `usage`.
    package init(_ arguments: [String]) throws(DaemonError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--check-config": verb = .checkConfiguration
            case "--init-spool": verb = .initSpool
            case "--version": verb = .version
            case "--help", "-h": verb = .help
            case "--generate-vault-key":
                verb = .generateVaultKey(path: try Self.value(of: argument, &rest))
            case "--config": configurationPath = try Self.value(of: argument, &rest)
            case "--state-directory": stateDirectory = try Self.value(of: argument, &rest)
            case "--runtime-directory": runtimeDirectory = try Self.value(of: argument, &rest)
            case "--credentials-directory":
                credentialsDirectory = try Self.value(of: argument, &rest)
            case "--logs-directory": logsDirectory = try Self.value(of: argument, &rest)
            default:
                throw DaemonError(.usage, ["unknown argument '\(argument)'; see expunged --help"])
            }
        }
    }

    private static func value(
        of name: String,
        _ rest: inout ArraySlice<String>
    ) throws(DaemonError) -> String {
        guard let value = rest.popFirst() else {
            throw DaemonError(.usage, ["\(name) needs a value; see expunged --help"])
        }
        return value
    }

    package static let help = """
        usage: expunged [--config FILE] [--state-directory DIR] [--runtime-directory DIR]
                        [--credentials-directory DIR] [--logs-directory DIR]
               expunged --check-config [--config FILE]
               expunged --init-spool [--config FILE] [--state-directory DIR]
               expunged --generate-vault-key FILE
               expunged --version | --help

        Carries account deletions to their end: revokes tokens, purges stores, verifies both.

          --config FILE                configuration (default /etc/expunged/expunged.toml)
          --state-directory DIR        private state and spool (default $STATE_DIRECTORY)
          --runtime-directory DIR      where to bind the sockets without systemd (default
                                       $RUNTIME_DIRECTORY)
          --credentials-directory DIR  vault key and provider keys (default $CREDENTIALS_DIRECTORY)
          --logs-directory DIR         checkpoints of the ledger (default $LOGS_DIRECTORY, or the
                                       state directory, where an old copy goes unnoticed)
          --check-config               report every problem of the configuration, and stop
          --init-spool                 create the spool if there is none, and stop
          --generate-vault-key FILE    write a new vault key into a new file, and stop

        Exit status: 0 done, 64 wrong usage, 74 state or socket unusable, 78 configuration unusable.
        """
}
