import Encoding
import Glibc
package import Lifecycle

/// The directory in which systemd shows secrets to the service (systemd.exec(5), CREDENTIALS).
///
/// A secret NAME is the file `expunged_NAME`, as `LoadCredential=expunged:DIRECTORY` makes it, or
/// `NAME`.
package struct CredentialDirectory: Sendable, Equatable {
    package let path: String

    /// Bytes of one secret; systemd's limit for all is 1 MB.
    package static let byteCountMax = 64 * 1024

    /// Each ``read(_:)`` opens it, so that no descriptor stays open.
    package init(path: String) {
        self.path = path
    }

    /// Reads one secret; for a symbolic link, as Kubernetes makes it, the checks apply to its
    /// target.
    ///
    /// - Throws: ``SystemdError``: `missing`, `unsafePermissions` when others may write it,
    ///   `tooLarge`, `wrongType`, `malformedName`, or `system`.
    package func read(_ name: String) throws(SystemdError) -> Secret {
        guard Self.isPlain(name) else {
            throw failure(.malformedName, name, "not a plain file name")
        }
        let directory = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else {
            let kind: SystemdError.Kind = errno == ENOENT ? .missing : .system
            throw failure(kind, name, "the directory cannot be opened: \(ErrorNumber.current)")
        }
        defer { close(directory) }
        for file in ["expunged_\(name)", name] {
            // O_NONBLOCK: a planted FIFO must not hang the start.
            let descriptor = unsafe openat(
                directory,
                file,
                O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
            )
            if descriptor >= 0 {
                defer { close(descriptor) }
                return try readAll(descriptor, name)
            }
            guard errno == ENOENT else { throw failure(.system, name, "\(ErrorNumber.current)") }
            var status = stat()
            if unsafe fstatat(directory, file, &status, AT_SYMLINK_NOFOLLOW) == 0 {
                throw failure(.missing, name, "the target of its symbolic link does not exist")
            }
        }
        throw failure(.missing, name, "neither 'expunged_\(name)' nor '\(name)' is in it")
    }

    private func readAll(_ descriptor: Int32, _ name: String) throws(SystemdError) -> Secret {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw failure(.system, name, "\(ErrorNumber.current)")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw failure(.wrongType, name, "it is not a regular file")
        }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw failure(.unsafePermissions, name, "group or others may write it; chmod go-w")
        }
        var bytes: [UInt8] = []
        defer { for index in bytes.indices { bytes[index] = 0 } }
        guard FileBytes.read(descriptor, into: &bytes, atMost: Self.byteCountMax + 1) else {
            throw failure(.system, name, "\(ErrorNumber.current)")
        }
        guard bytes.count <= Self.byteCountMax else {
            throw failure(.tooLarge, name, "more than \(Self.byteCountMax) bytes")
        }
        return Secret(bytes)
    }

    private static func isPlain(_ name: String) -> Bool {
        guard (1...128).contains(name.utf8.count), name.utf8.first != UInt8(ascii: ".") else {
            return false
        }
        return name.allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber) || "._-".contains($0)
        }
    }

    private func failure(
        _ kind: SystemdError.Kind,
        _ name: String,
        _ cause: String
    ) -> SystemdError {
        let action = "read credential '\(LogText.sanitized(name))'"
        return SystemdError(kind, cannot: action, at: path, because: cause)
    }
}
