package import Engine
package import HTTP
package import Settings

/// A kind of directory: its settings, and how its adapter is made.
package protocol DirectoryKind: SectionKind {
    /// The page of the documentation, relative to the root of the project.
    static var guide: String { get }

    /// Reads a section whose keys and values are known to be good.
    init(_ section: SettingsSection, _ problems: inout SectionProblems)

    /// Makes the adapter.
    ///
    /// - Throws: What keeps the directory from being set up, in one line.
    func open(
        _ directory: DirectoryConfiguration,
        in environment: AdapterEnvironment
    ) async throws -> any IdentityDirectory
}
