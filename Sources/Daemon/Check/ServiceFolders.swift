/// The directories of the service: given, from systemd, or where the unit puts them.
struct ServiceFolders: Sendable, Hashable {
    static let credentialsOfUnit = "/etc/expunged/credentials"

    let state: String
    let logs: String
    let credentials: String

    init(options: DaemonOptions, environment: [String: String]) {
        func folder(_ given: String?, _ variable: String, _ usual: String) -> String {
            let set = environment[variable]?.split(separator: ":").first.map(String.init)
            return given ?? set ?? usual
        }
        state = folder(options.stateDirectory, "STATE_DIRECTORY", "/var/lib/expunged")
        logs = folder(options.logsDirectory, "LOGS_DIRECTORY", "/var/log/expunged")
        credentials = folder(
            options.credentialsDirectory,
            "CREDENTIALS_DIRECTORY",
            Self.credentialsOfUnit
        )
    }
}
