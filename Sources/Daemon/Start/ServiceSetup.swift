import Encoding
import Glibc
import Settings
import Systemd
import Vault

/// Prepares a new machine for `expunged setup`: directories, vault key and configuration.
struct ServiceSetup {
    let configuration: String
    let credentials: String

    /// The first configuration: valid, and without a provider or a store.
    static let minimalConfiguration = """
        # Configuration of expunged(8). expunged.conf(5) describes every key, and
        # /usr/share/doc/expunged/examples has examples. Check and apply a change:
        #   expunged --check-config
        #   systemctl reload expunged      (systemctl restart expunged after a new credential)
        #
        # No secrets in this file: the credential NAME is the file /etc/expunged/credentials/NAME.

        # Add a [[provider]] for each identity provider, and a [[store]] for each store.
        [requests]
        deadline = "30d"                     # alarms 7 days before, and when it has passed

        """

    /// Creates what is missing and changes nothing that exists.
    ///
    /// - Returns: What it did and what comes next, for the operator.
    /// - Throws: ``DaemonError`` without root, or for a key or directory that is not safe;
    ///   ``Settings/ConfigurationError`` for a bad configuration, before anything is created.
    func run(uid: uid_t) throws -> String {
        guard uid == 0 else {
            let command = "sudo expunged setup\(paths)"
            throw DaemonError(.usage, "only root may set the service up: \(command)")
        }
        let existing =
            BackupFile.exists(configuration)
            ? try DaemonConfiguration.load(path: configuration) : nil
        let slash = configuration.lastIndex(of: "/")
        var lines: [String] = []
        if let slash, slash > configuration.startIndex,
            try makeDirectory(String(configuration[..<slash]), 0o755)
        {
            lines.append("created \(configuration[..<slash])")
        }
        if try makeDirectory(credentials, 0o700) { lines.append("created \(credentials)") }
        let name = existing?.vault.keyCredential ?? "vault-key"
        let key = "\(credentials)/\(name)"
        let keptID = try keyID(name, key)
        let id = try keptID ?? KeyGenerator.makeVaultKey(at: key)
        lines.append("\(keptID == nil ? "created" : "kept") \(key), the vault key \(id)")
        if existing == nil { try writeConfiguration() }
        lines.append("\(existing == nil ? "created" : "kept") \(configuration)")
        let isComplete = existing.map { !$0.providers.isEmpty && !$0.stores.isEmpty } ?? false
        lines += next(newKey: keptID == nil ? key : nil, isComplete: isComplete)
        return lines.joined(separator: "\n")
    }

    /// The paths that are not those of the unit, as further words of a command line.
    private var paths: String {
        let words = [
            configuration == DaemonOptions.configurationOfUnit
                ? [] : ["--config", Self.quoted(configuration)],
            hasCredentialsOfUnit ? [] : ["--credentials-directory", Self.quoted(credentials)],
        ]
        return words.flatMap(\.self).map { " \($0)" }.joined()
    }

    private var hasCredentialsOfUnit: Bool { credentials == DaemonOptions.credentialsOfUnit }

    private static func quoted(_ path: String) -> String {
        let isPlain = path.allSatisfy { $0.isLetter || $0.isNumber || "/._-+:@%,".contains($0) }
        return isPlain ? path : "'\(path.replacing("'", with: #"'\''"#))'"
    }

    private func next(newKey: String?, isComplete: Bool) -> [String] {
        let verb = newKey == nil ? "start" : "restart"
        // The unit's sandbox has the credentials of the unit.
        let sandbox = hasCredentialsOfUnit ? " --as-service" : ""
        let unit =
            paths.isEmpty ? "" : "let the unit have these paths (systemctl edit expunged), then: "
        let steps = [
            newKey.map { "copy \($0) to where no backup of this machine goes" },
            isComplete ? nil : "add providers and stores to \(configuration): expunged.conf(5)",
            "check it: sudo expunged --check\(sandbox)\(paths)",
            // A service that runs gets a new key by a restart only.
            "\(unit)sudo systemctl \(verb) expunged",
        ].compactMap { $0 }
        return ["", "Next:"] + steps.enumerated().map { "  \($0.offset + 1). \($0.element)" }
    }

    /// Returns whether the directory was missing; the umask does not change its mode.
    private func makeDirectory(_ path: String, _ mode: mode_t) throws(DaemonError) -> Bool {
        if unsafe mkdir(path, mode) == 0 {
            guard unsafe chmod(path, mode) == 0 else { throw failure("set the mode of", path) }
            return true
        }
        guard errno == EEXIST else { throw failure("create", path) }
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw failure("read", path) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw refused("'\(path)' must be a directory; move it away")
        }
        guard isOwn(status), status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            let remedy = "chown root:root \(path); chmod \(String(mode, radix: 8)) \(path)"
            throw refused("other users may write '\(path)'; run: \(remedy)")
        }
        return false
    }

    /// The id of the vault key that is there; `nil` if there is none.
    private func keyID(_ name: String, _ path: String) throws(DaemonError) -> String? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        guard status.st_mode & S_IFMT != S_IFLNK else {
            let remedy = "hint: setup replaces no file: put a regular file there"
            throw refused("'\(path)' is a symbolic link, and systemd passes none on", remedy)
        }
        let id: String
        do {
            let text = try CredentialDirectory(path: credentials).read(name)
            id = try VaultKey(text: text, name: path).id
        } catch {
            let remedy = "hint: setup replaces no file: repair '\(path)' or move it away"
            throw refused("\(error)", remedy)
        }
        guard isOwn(status), status.st_mode & 0o077 == 0 else {
            let remedy = "chown root:root \(path); chmod 0600 \(path)"
            throw refused("other users may read the vault key '\(path)'; run: \(remedy)")
        }
        return id
    }

    private func writeConfiguration() throws(DaemonError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = unsafe open(configuration, flags, 0o600)
        guard file >= 0 else { throw failure("create", configuration) }
        defer { close(file) }
        // The service reads it as its own user, whatever the umask is.
        guard FileBytes.write(Array(Self.minimalConfiguration.utf8), to: file), fsync(file) == 0,
            fchmod(file, 0o644) == 0
        else {
            let error = failure("write", configuration)
            _ = unsafe unlink(configuration)
            throw error
        }
    }

    private func isOwn(_ status: stat) -> Bool {
        status.st_uid == 0 || status.st_uid == geteuid()
    }

    private func failure(_ action: String, _ path: String) -> DaemonError {
        refused("cannot \(action) '\(path)': \(ErrorNumber.current)")
    }

    private func refused(_ problems: String...) -> DaemonError {
        DaemonError(.credential, problems: problems)
    }
}
