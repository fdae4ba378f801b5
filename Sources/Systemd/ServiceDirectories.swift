/// The directories of the service, from systemd (systemd.exec(5)) or the command line.
package struct ServiceDirectories: Sendable, Equatable {
    /// Values of the command line win over the environment.
    package struct Overrides: Sendable, Equatable {
        package var state: String?
        package var runtime: String?
        package var credentials: String?
        package var logs: String?

        package init(
            state: String? = nil,
            runtime: String? = nil,
            credentials: String? = nil,
            logs: String? = nil
        ) {
            (self.state, self.runtime) = (state, runtime)
            (self.credentials, self.logs) = (credentials, logs)
        }
    }

    package let state: String
    /// `nil` under our unit, where systemd binds the sockets.
    package let runtime: String?
    /// Without it the service starts in sealed mode.
    package let credentials: CredentialDirectory?
    package let logs: String?

    /// Reads `$STATE_DIRECTORY` and the like; of a colon-separated list the first counts.
    ///
    /// - Throws: ``SystemdError``: `missing` without a state directory, `malformedName` for a path
    ///   that is not absolute.
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

    /// Throws `missing` without a runtime directory.
    package func requireRuntime() throws(SystemdError) -> String {
        guard let runtime else {
            throw Self.missing("$RUNTIME_DIRECTORY", option: "--runtime-directory")
        }
        return runtime
    }

    private static func missing(_ variable: String, option: String) -> SystemdError {
        failure(.missing, variable, "it is not set; outside systemd, give \(option) DIRECTORY")
    }

    private static func failure(
        _ kind: SystemdError.Kind,
        _ place: String,
        _ cause: String
    ) -> SystemdError {
        SystemdError(kind, cannot: "find a directory", at: place, because: cause)
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
            let cause = "'\(LogText.sanitized(String(first)))' is not an absolute path"
            throw failure(.malformedName, "$\(variable)", cause)
        }
        return String(first)
    }
}

/// Why something from systemd could not be used.
package struct SystemdError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong.
    package enum Kind: String, Sendable, CaseIterable {
        case missing
        case unexpected
        case wrongType = "wrong type"
        /// Others could change it.
        case unsafePermissions = "unsafe permissions"
        case tooLarge = "too large"
        case malformedName = "malformed name"
        case system
    }

    package let kind: Kind
    /// Verb and object, such as `read credential 'apple-key.p8'`.
    package let action: String
    /// A path or socket.
    package let place: String
    /// Never a secret.
    package let cause: String

    init(_ kind: Kind, cannot action: String, at place: String, because cause: String) {
        (self.kind, self.action, self.place, self.cause) = (kind, action, place, cause)
    }

    package var description: String {
        "cannot \(action) at '\(place)' (\(kind.rawValue)): \(cause)"
    }
}
