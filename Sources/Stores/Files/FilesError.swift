import Encoding
import Glibc
package import Lifecycle

/// Why a store of files could not do its work.
///
/// Carries an errno and names of the configuration, never a file's name.
package struct FilesError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The closed set of causes.
    package enum Kind: String, Sendable, CaseIterable {
        /// The root is a place that nobody purges, or too close to `/`.
        case dangerousRoot = "dangerous_root"
        /// The root is missing, no folder, or behind a symbolic link.
        case unfitRoot = "unfit_root"
        /// The root holds no ``FilesStore/sentinel`` that names the store.
        case missingSentinel = "missing_sentinel"
        /// A symbolic link where a folder of the pattern should be.
        case link = "symbolic_link"
        /// Something is mounted inside of what is one user's.
        case mount = "mount_point"
        /// Something is mounted on the way to all users' files.
        case mountOnTheWay = "mount_on_the_way"
        /// We may not read or write what all users' files are in.
        case denied = "not_permitted"
        /// We may not read or remove something of one user's.
        case deniedInside = "not_permitted_inside"
        /// The tree kept changing under us.
        case changed = "tree_changed"
        /// The file system failed.
        case storage
        /// The kernel lacks openat2(2).
        case kernel = "kernel_too_old"
    }

    package let kind: Kind
    package let store: StoreName
    /// What the system said; 0 when it was not asked.
    package let errorNumber: Int32
    /// The pattern that led there; `nil` for the root.
    package var pattern: String?

    package init(_ kind: Kind, store: StoreName, errorNumber: Int32 = 0) {
        self.kind = kind
        self.store = store
        self.errorNumber = errorNumber
    }

    /// Classifies what a call inside the tree brought.
    init(_ failure: OpenDirectory.Failure, store: StoreName) {
        let kind: Kind =
            switch failure.errorNumber {
            case ELOOP: .link
            case EXDEV where failure.isOnTheWay: .mountOnTheWay
            case EXDEV, EBUSY: .mount
            case EACCES where !failure.isOnTheWay, EPERM where !failure.isOnTheWay: .deniedInside
            case EACCES, EPERM, EROFS: .denied
            case ENOENT, ENOTDIR, ENOTEMPTY, EISDIR, ESTALE, EAGAIN: .changed
            case ENOSYS: .kernel
            default: .storage
            }
        self.init(kind, store: store, errorNumber: failure.errorNumber)
    }

    /// What the error means for the order that met it.
    ///
    /// A link, a mount or an immutable file inside is one user's: pausing the store on that ground
    /// would stop all deletions for it, and go on only when somebody says so.
    package var failure: EffectFailure {
        switch kind {
        case .dangerousRoot, .unfitRoot, .missingSentinel, .mountOnTheWay, .denied, .kernel:
            .misconfigured
        case .deniedInside: .blocked(Obstacle(.permission, at: pattern))
        case .link, .mount, .storage: .unusable
        case .changed: .throttled(retryAfter: nil)
        }
    }

    package var description: String {
        let cause = errorNumber == 0 ? "" : ": \(ErrorNumber(errorNumber))"
        return "cannot purge store at '\(store)' (\(kind.rawValue))\(cause)"
    }
}
