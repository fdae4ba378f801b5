import Encoding
import Glibc

/// Reads a configuration file that only root and the caller can have written.
///
/// It decides where tokens go and which rows are deleted. For a symbolic link, as Kubernetes and
/// NixOS make it, the checks apply to the target.
package struct ConfigurationFile {
    private let path: String
    private let callerUID: uid_t

    package init(path: String) { self.init(path: path, callerUID: geteuid()) }

    init(path: String, callerUID: uid_t) { (self.path, self.callerUID) = (path, callerUID) }

    /// Whether nothing has that name, not even a link to nothing.
    package var isMissing: Bool {
        var status = stat()
        return unsafe lstat(path, &status) != 0 && errno == ENOENT
    }

    /// Reads the whole file.
    package func read() throws(ConfigurationError) -> [UInt8] {
        // O_NONBLOCK: opening a FIFO must not wait for a writer (open(2)).
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw failed(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failed(errno) }
        try check(status)
        return try readAll(descriptor)
    }

    private func check(_ status: stat) throws(ConfigurationError) {
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw refused(.notRegularFile, "it must be a regular file")
        }
        guard status.st_uid == 0 || status.st_uid == callerUID else {
            throw refused(
                .unsafePermissions,
                "it belongs to uid \(status.st_uid), who could change it; chown it to root"
            )
        }
        let isShared = status.st_mode & (S_IWGRP | S_IWOTH) != 0
        let isOwnFile = callerUID != 0 && status.st_uid == callerUID
        guard !isShared || isOwnFile else {
            throw refused(
                .unsafePermissions,
                "its mode \(String(status.st_mode & 0o7777, radix: 8)) lets others write it; "
                    + "run chmod go-w on it"
            )
        }
        guard status.st_size <= SettingsLimits.byteCountMax else { throw tooLarge }
    }

    private func readAll(_ descriptor: CInt) throws(ConfigurationError) -> [UInt8] {
        var bytes: [UInt8] = []
        let countMax = SettingsLimits.byteCountMax
        guard FileBytes.read(descriptor, into: &bytes, atMost: countMax + 1) else {
            throw failed(errno)
        }
        // The size was checked, but the file may grow while it is read.
        guard bytes.count <= countMax else { throw tooLarge }
        return bytes
    }

    private var tooLarge: ConfigurationError {
        refused(.tooLarge, "it must not be larger than \(SettingsLimits.byteCountMax) bytes")
    }

    private func failed(_ code: CInt) -> ConfigurationError {
        var status = stat()
        if code == ENOENT, unsafe lstat(path, &status) == 0 {
            return refused(.unreadable, "the target of this symbolic link does not exist")
        }
        return refused(.unreadable, "\(ErrorNumber(code))")
    }

    private func refused(
        _ kind: ConfigurationProblem.Kind,
        _ cause: String
    ) -> ConfigurationError {
        ConfigurationError(kind, file: path, cause)
    }
}

/// Parses the text of a configuration.
package enum ConfigurationLoader {
    /// Returns what reads the sections; messages call the text `file`.
    ///
    /// What `variables` set wins over the text.
    ///
    /// - Throws: ``ConfigurationError`` for a text that is not TOML.
    package static func open(
        _ bytes: [UInt8],
        file: String,
        variables: EnvironmentSettings = EnvironmentSettings([:]),
        table: SettingsTable
    ) throws(ConfigurationError) -> ConfigurationReader {
        guard bytes.count <= SettingsLimits.byteCountMax else {
            throw ConfigurationError(
                .tooLarge,
                file: file,
                "it must not be larger than \(SettingsLimits.byteCountMax) bytes"
            )
        }
        try checkLines(bytes, file: file)
        let document: TOMLDocument
        do {
            document = try TOMLDocument(bytes)
        } catch {
            throw ConfigurationError(error.kind, file: file, line: error.line, error.cause)
        }
        return ConfigurationReader(
            document: document,
            file: file,
            variables: variables,
            table: table
        )
    }

    /// Checks what the parser does not: the length of lines, UTF-8, and NUL, which ends a C string.
    private static func checkLines(_ bytes: [UInt8], file: String) throws(ConfigurationError) {
        let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            guard line.count <= SettingsLimits.lineByteCountMax else {
                throw ConfigurationError(
                    .tooLarge,
                    file: file,
                    line: index + 1,
                    "the line is longer than \(SettingsLimits.lineByteCountMax) bytes; "
                        + "lists may span lines"
                )
            }
            func notText(_ cause: String) -> ConfigurationError {
                ConfigurationError(.notText, file: file, line: index + 1, cause)
            }
            guard let text = String(validating: line, as: UTF8.self) else {
                throw notText("the line is not UTF-8")
            }
            let hasNUL =
                line.contains(0) || text.contains("\\u0000") || text.contains("\\U00000000")
            guard !hasNUL else { throw notText("the line contains the character NUL") }
        }
    }
}
