/// What a database accepts as a path of names.
struct PathRules: Sendable {
    /// Whether it accepts a name, which is not empty and has no '/'.
    let allows: @Sendable (String) -> Bool
    /// What a path of accepted names must do and does not; `nil` when it fits.
    var unmet: @Sendable (_ names: [String]) -> String? = { _ in nil }

    func accepts(_ name: String) -> Bool {
        !name.isEmpty && !name.utf8.contains(UInt8(ascii: "/")) && allows(name)
    }
}
