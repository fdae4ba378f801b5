/// The directories of the service, as systemd names them (systemd.exec(5)) or as the command line does.
package struct ServiceDirectories: Sendable, Equatable {
    /// What the command line says instead; each value wins over the environment.
    package struct Overrides: Sendable, Equatable {
        package var state: String?
        package var runtime: String?
        package var credentials: String?
        package var logs: String?

        /// Overrides nothing, or what is given.
        package init(
            state: String? = nil,
            runtime: String? = nil,
            credentials: String? = nil,
            logs: String? = nil
        ) {
            self.state = state
            self.runtime = runtime
            self.credentials = credentials
            self.logs = logs
        }
    }

    /// Private state and, below it, the spool.
    package let state: String
    /// The sockets, when we bind them ourselves.
    package let runtime: String
    /// The secrets; without it the daemon starts in sealed mode.
    package let credentials: CredentialDirectory?
    /// Files that outlive the state, such as ledger anchors; optional.
    package let logs: String?

    /// Finds the directories.
    ///
    /// - Parameters:
    ///   - environment: The process environment: `$STATE_DIRECTORY`, `$RUNTIME_DIRECTORY`,
    ///     `$CREDENTIALS_DIRECTORY`, `$LOGS_DIRECTORY`; of a colon-separated list the first counts.
    ///   - overrides: What the command line says.
    /// - Throws: ``SystemdError`` of kind `missing` when state or runtime directory is named nowhere,
    ///   `malformedName` when a path is not absolute where systemd named it.
    package init(
        environment: [String: String],
        overrides: Overrides = Overrides()
    ) throws(SystemdError) {
        state = try Self.required(
            overrides.state,
            "STATE_DIRECTORY",
            option: "--state-directory",
            environment
        )
        runtime = try Self.required(
            overrides.runtime,
            "RUNTIME_DIRECTORY",
            option: "--runtime-directory",
            environment
        )
        let secrets = try Self.optional(
            overrides.credentials,
            "CREDENTIALS_DIRECTORY",
            environment
        )
        credentials = secrets.map(CredentialDirectory.init(path:))
        logs = try Self.optional(overrides.logs, "LOGS_DIRECTORY", environment)
    }

    private static func required(
        _ override: String?,
        _ variable: String,
        option: String,
        _ environment: [String: String]
    ) throws(SystemdError) -> String {
        if let path = try optional(override, variable, environment) { return path }
        throw SystemdError(
            .missing,
            cannot: "find a directory",
            at: "$\(variable)",
            because: "it is not set; outside systemd, give \(option) DIRECTORY"
        )
    }

    private static func optional(
        _ override: String?,
        _ variable: String,
        _ environment: [String: String]
    ) throws(SystemdError) -> String? {
        if let override, !override.isEmpty { return override }
        guard let value = environment[variable], let first = value.split(separator: ":").first
        else { return nil }
        guard first.hasPrefix("/") else {
            throw SystemdError(
                .malformedName,
                cannot: "find a directory",
                at: "$\(variable)",
                because: "'\(LogText.sanitized(String(first)))' is not an absolute path"
            )
        }
        return String(first)
    }
}
