/// The directories of the service, as systemd names them (systemd.exec(5)) or as the command line
/// does.
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
    /// Where we bind the sockets ourselves; `nil` under our unit, where systemd binds them.
    package let runtime: String?
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
    /// - Throws: ``SystemdError`` of kind `missing` when the state directory is named nowhere,
    ///   `malformedName` when a path is not absolute where systemd named it.
    package init(
        environment: [String: String],
        overrides: Overrides = Overrides()
    ) throws(SystemdError) {
        guard let state = try Self.optional(overrides.state, "STATE_DIRECTORY", environment)
        else { throw Self.missing("$STATE_DIRECTORY", option: "--state-directory") }
        self.state = state
        runtime = try Self.optional(overrides.runtime, "RUNTIME_DIRECTORY", environment)
        let secrets = try Self.optional(
            overrides.credentials,
            "CREDENTIALS_DIRECTORY",
            environment
        )
        credentials = secrets.map(CredentialDirectory.init(path:))
        logs = try Self.optional(overrides.logs, "LOGS_DIRECTORY", environment)
    }

    /// The directory in which we bind the sockets ourselves.
    ///
    /// - Returns: ``runtime``.
    /// - Throws: ``SystemdError`` of kind `missing` when it is named nowhere.
    package func requireRuntime() throws(SystemdError) -> String {
        guard let runtime else {
            throw Self.missing("$RUNTIME_DIRECTORY", option: "--runtime-directory")
        }
        return runtime
    }

    private static func missing(_ variable: String, option: String) -> SystemdError {
        SystemdError(
            .missing,
            cannot: "find a directory",
            at: variable,
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
