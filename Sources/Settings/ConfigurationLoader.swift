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
