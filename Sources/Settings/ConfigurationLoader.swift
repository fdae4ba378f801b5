/// Turns the text of a configuration into what reads its sections.
package enum ConfigurationLoader {
    /// Parses the text of a configuration.
    ///
    /// - Parameters:
    ///   - bytes: TOML in UTF-8.
    ///   - file: What messages call it.
    ///   - table: The keys that it may have.
    /// - Returns: What reads its sections.
    /// - Throws: ``ConfigurationError`` for a text that is not TOML.
    package static func open(
        _ bytes: [UInt8],
        file: String,
        table: SettingsTable
    ) throws(ConfigurationError) -> ConfigurationReader {
        guard bytes.count <= SettingsLimits.byteCountMax else {
            throw refused(
                .tooLarge,
                line: nil,
                file,
                "it must not be larger than \(SettingsLimits.byteCountMax) bytes"
            )
        }
        try checkLines(bytes, file: file)
        let document: TOMLDocument
        do {
            document = try TOMLDocument(bytes)
        } catch {
            throw refused(error.kind, line: error.line, file, error.cause)
        }
        return ConfigurationReader(
            root: document.root,
            file: file,
            locations: document.locations,
            table: table
        )
    }

    /// Checks what the parser does not: the length of lines, UTF-8 as such, and NUL, which would
    /// end
    /// a path or a name for the functions of C.
    private static func checkLines(_ bytes: [UInt8], file: String) throws(ConfigurationError) {
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
