import Synchronization

/// Loads a configuration: the one path for start, reload and `--check-config`.
package enum ConfigurationLoader {
    /// The last accepted text and what it says.
    ///
    /// The TOML library never gives back the memory that a text cost, so one that did not change is
    /// not read again.
    private static let accepted = Mutex<(bytes: [UInt8], configuration: DaemonConfiguration)?>(nil)

    /// Reads and checks a file.
    ///
    /// - Parameter path: The file; also what messages call it.
    /// - Returns: The whole configuration, with defaults filled in.
    /// - Throws: ``ConfigurationError`` with every problem at once; nothing is in effect then.
    package static func load(path: String) throws(ConfigurationError) -> DaemonConfiguration {
        let bytes = try ConfigurationFile(path: path).read()
        if let last = accepted.withLock({ $0 }), last.bytes == bytes { return last.configuration }
        let configuration = try parse(bytes, file: path)
        accepted.withLock { $0 = (bytes, configuration) }
        return configuration
    }

    /// Checks the text of a configuration.
    ///
    /// - Parameters:
    ///   - bytes: TOML in UTF-8.
    ///   - file: What messages call it.
    /// - Returns: The whole configuration, with defaults filled in.
    /// - Throws: ``ConfigurationError`` with every problem at once.
    package static func parse(
        _ bytes: [UInt8],
        file: String
    ) throws(ConfigurationError) -> DaemonConfiguration {
        guard bytes.count <= SettingsLimits.byteCountMax else {
            throw refused(
                .tooLarge,
                line: nil,
                file,
                "it must not be larger than \(SettingsLimits.byteCountMax) bytes"
            )
        }
        let text = try text(bytes, file: file)
        let scanner = KeyScanner(bytes)
        if let problem = scanner.problem {
            throw refused(problem.kind, line: problem.line, file, problem.cause)
        }
        let root: [String: TOMLNode]
        do {
            root = try TOMLNode.parse(text)
        } catch {
            throw refused(.syntax, line: error.line, file, ProblemLog.sentence(error.cause))
        }
        var reader = ConfigurationReader(root: root, file: file, locations: scanner.locations)
        return try reader.read()
    }

    /// The bytes as text, after what the parser does not check itself.
    private static func text(_ bytes: [UInt8], file: String) throws(ConfigurationError) -> String {
        let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            guard line.count <= SettingsLimits.lineByteCountMax else {
                throw refused(
                    .tooLarge,
                    line: index + 1,
                    file,
                    "the line is longer than \(SettingsLimits.lineByteCountMax) bytes; "
                        + "lists may span lines"
                )
            }
            guard let text = String(validating: line, as: UTF8.self) else {
                throw refused(.notText, line: index + 1, file, "the line is not UTF-8")
            }
            // TOML 1.0.0 knows a carriage return before a line feed only; the parser traps on
            // one inside a header.
            guard !line.dropLast().contains(0x0d),
                line.last != 0x0d || index < lines.count - 1
            else {
                throw refused(
                    .syntax,
                    line: index + 1,
                    file,
                    "the line contains a carriage return that does not end it"
                )
            }
            // The parser's interface takes C strings, which end there.
            let hasNUL =
                line.contains(0) || text.contains("\\u0000") || text.contains("\\U00000000")
            guard !hasNUL else {
                throw refused(
                    .notText,
                    line: index + 1,
                    file,
                    "the line contains the character NUL"
                )
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func refused(
        _ kind: ConfigurationProblem.Kind,
        line: Int?,
        _ file: String,
        _ cause: String
    ) -> ConfigurationError {
        ConfigurationError([
            ConfigurationProblem(
                kind: kind,
                file: file,
                line: line,
                key: nil,
                value: nil,
                cause: cause
            )
        ])
    }
}
