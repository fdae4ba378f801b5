package import Lifecycle

/// A folder tree of the application and where a user's files are in it.
package struct FilesStorePlan: Sendable {
    package let name: StoreName
    /// Absolute; no symbolic link on the way to it.
    package let root: String
    /// Not empty.
    package let paths: [PathPattern]

    /// The file that must lie in the root, with the store's name as its first line.
    ///
    /// An empty mount point, a disk of another machine or a mistyped path has none: a purge there
    /// would find nothing, and call that erased.
    package static let sentinel = ".expunged-root"
}
