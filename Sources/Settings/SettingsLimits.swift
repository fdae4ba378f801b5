enum SettingsLimits {
    /// In bytes: a thousand tables need a tenth of it.
    static let byteCountMax = 1 << 20
    /// In bytes: each dot of a key makes a table, and the parser's destructors recurse.
    static let lineByteCountMax = 4096
    /// A configuration needs 7 levels.
    static let depthMax = 16
    /// A file with more is of another kind altogether.
    static let problemsMax = 200
}
