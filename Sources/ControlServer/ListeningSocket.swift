package import Control
import Encoding
import Glibc

/// A listening Unix stream socket and the role of everybody who connects to it.
package struct ListeningSocket: Sendable {
    package let descriptor: Int32
    package let role: ControlRole
    /// The path that we bound ourselves and remove at the end; `nil` when systemd owns it.
    package let ownedPath: String?

    /// Takes over a socket (sd_listen_fds(3)); throws unless it is a listening AF_UNIX stream.
    package init(adopting descriptor: Int32, role: ControlRole) throws(ControlServerError) {
        guard Self.option(SO_DOMAIN, of: descriptor) == AF_UNIX,
            Self.option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue),
            Self.option(SO_ACCEPTCONN, of: descriptor) == 1
        else {
            throw ControlServerError(.notListening, "fd \(descriptor)")
        }
        (self.descriptor, self.role) = (descriptor, role)
        ownedPath = nil
    }

    /// Binds a socket of our own, for its owner and, if given, a group.
    ///
    /// The socket is never wider open than that, whatever the umask: unix(7) takes the mode of the
    /// unbound socket, masked; chown(2) and chmod(2) follow.
    ///
    /// The directory of the path must be ours alone. The caller holds the daemon's lock, so a
    /// socket found there is stale and is removed.
    ///
    /// - Throws: ``ControlServerError`` when the path is unusable or occupied.
    package init(
        binding path: String,
        group: UInt32? = nil,
        role: ControlRole
    ) throws(ControlServerError) {
        try Self.removeStale(path)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | 0o2_000_000, 0)  // CLOEXEC
        guard descriptor >= 0 else { throw Self.failure(path) }
        do throws(ControlServerError) {
            guard fchmod(descriptor, 0o600) == 0 else { throw Self.failure(path) }
            try Self.bind(descriptor, to: path)
            if let group, unsafe chown(path, uid_t.max, group) != 0 {
                throw ControlServerError(.group, "\(path)' for group '\(group)", errno)
            }
            let mode: mode_t = group == nil ? 0o600 : 0o660
            guard unsafe chmod(path, mode) == 0, listen(descriptor, 1024) == 0 else {
                throw Self.failure(path)
            }
        } catch {
            close(descriptor)
            throw error
        }
        (self.descriptor, self.role) = (descriptor, role)
        ownedPath = path
    }

    func removePath() {
        if let ownedPath { unsafe unlink(ownedPath) }
    }

    private static func failure(_ path: String) -> ControlServerError {
        ControlServerError(.systemCall, path, errno)
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        let result = unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &size)
        return result == 0 ? value : nil
    }

    private static func removeStale(_ path: String) throws(ControlServerError) {
        var information = stat()
        guard unsafe lstat(path, &information) == 0 else {
            guard errno == ENOENT else { throw failure(path) }
            return
        }
        guard information.st_mode & S_IFMT == S_IFSOCK else {
            throw ControlServerError(.pathOccupied, path)
        }
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure(path) }
    }

    private static func bind(_ descriptor: Int32, to path: String) throws(ControlServerError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard !bytes.isEmpty, bytes.count < capacity else {
            throw ControlServerError(.pathTooLong, path)
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { buffer in
            unsafe buffer.copyBytes(from: bytes)
        }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe Glibc.bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw failure(path) }
    }
}

/// Why the control server cannot listen.
package struct ControlServerError: Error, Sendable, CustomStringConvertible {
    /// What failed.
    package enum Kind: String, Sendable {
        case pathTooLong = "path too long"
        /// Something that is no socket is in the way; it is never removed.
        case pathOccupied = "path occupied"
        case group = "group"
        case notListening = "not a listening unix stream socket"
        case systemCall = "system call"
    }

    package let kind: Kind
    /// The path, or the number of the descriptor.
    package let place: String
    package let errorNumber: Int32?

    init(_ kind: Kind, _ place: String, _ errorNumber: Int32? = nil) {
        (self.kind, self.place, self.errorNumber) = (kind, place, errorNumber)
    }

    package var description: String {
        let cause = errorNumber.map { ": \(ErrorNumber($0))" } ?? ""
        let hint =
            kind == .group
            ? "\nhint: make the service's user a member of that group, in a container by"
                + " --group-add or GroupAdd=" : ""
        return "cannot listen at '\(place)' (\(kind.rawValue))\(cause)\(hint)"
    }
}
