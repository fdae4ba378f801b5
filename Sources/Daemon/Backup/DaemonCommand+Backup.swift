import CLinux
import Engine
import Lifecycle
import Settings
import Storage
import Systemd

extension DaemonCommand {
    static func backUp(
        to file: String,
        _ options: DaemonOptions,
        _ environment: [String: String]
    ) throws -> String {
        try refuseServer(options, environment)
        let directories = try backupDirectories(options, environment)
        let clock = AnchoredClock()
        return try Backup(
            stateDirectory: directories.state,
            now: { clock.now() }
        ).write(to: file)
    }

    static func restore(
        _ file: String,
        _ options: DaemonOptions,
        _ environment: [String: String]
    ) throws -> String {
        let directories = try backupDirectories(options, environment)
        let path = options.configurationPath
        // A new machine has no configuration yet; the defaults name the vault key.
        let configuration =
            BackupFile.exists(path)
            ? try load(options, environment)
            : try DaemonConfiguration.parse(
                Array(ServiceSetup.minimalConfiguration.utf8),
                file: path
            )
        try refuseServer(options, environment)
        let clock = AnchoredClock()
        return try Restore(
            stateDirectory: directories.state,
            vault: VaultSetup(
                settings: configuration.vault,
                credentials: directories.credentials,
                logger: SystemCheck.silent
            ),
            now: { clock.now() }
        ).read(file)
    }

    /// A state in PostgreSQL is no file: its server backs it up.
    private static func refuseServer(
        _ options: DaemonOptions,
        _ environment: [String: String]
    ) throws {
        guard BackupFile.exists(options.configurationPath),
            try load(options, environment).state.kind == .postgresql
        else { return }
        throw DaemonError(
            .configuration,
            "cannot back up or restore the state (not_a_file): it is in PostgreSQL; use that"
                + " server's backups, and keep copies of hash.key and ledger.key"
        )
    }

    private static func backupDirectories(
        _ options: DaemonOptions,
        _ environment: [String: String]
    ) throws -> ServiceDirectories {
        _ = clinux_forbid_core_dumps()
        StateDatabase.configureProcess()
        return try options.directories(environment, mayBeUnit: options.stateDirectory == nil)
    }
}
