/// The bounds of reading a configuration, each with its unit and reason.
enum SettingsLimits {
    /// The largest file, in bytes: a thousand tables need a tenth of it.
    static let byteCountMax = 1 << 20
    /// The longest line, in bytes.
    ///
    /// A table for each dot of a key: this bounds how deep the parser's destructors recurse.
    static let lineByteCountMax = 4096
    /// The deepest nesting of keys and lists; a configuration needs 7 levels.
    static let depthMax = 16
    /// The most problems that are listed; a file with more is of another kind altogether.
    static let problemsMax = 200
}
