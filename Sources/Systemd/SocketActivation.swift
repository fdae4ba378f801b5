import CSystemd
import Encoding
import Glibc

/// The listening sockets that systemd opened for us: none, or `control`, `submit` and, unless its
/// unit is masked, `viewer`.
package struct SocketActivation: Sendable, Equatable {
    /// `FileDescriptorName=` of our socket units.
    package enum Name: String, Sendable, CaseIterable {
        case control
        case submit
        /// For viewers; the only one that may be missing.
        case viewer
    }

    /// Empty when the process was not socket-activated.
    package let descriptors: [Name: Int32]

    /// Takes no socket or all of them, close-on-exec, and unsets the variables for child processes.
    ///
    /// Call it before other threads exist: it changes the environment (sd_listen_fds(3)).
    package static func take() throws(SystemdError) -> SocketActivation {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(1, &names)
        guard count >= 0 else { throw failure(.system, "LISTEN_FDS", "\(ErrorNumber(-count))") }
        var found: [(name: String, descriptor: Int32)] = []
        for index in 0..<Int(count) {
            let text = unsafe names?[index].map { unsafe String(cString: $0) } ?? "unknown"
            found.append((text, SD_LISTEN_FDS_START + Int32(index)))
            unsafe free(names?[index])
        }
        unsafe free(names)
        return try SocketActivation(validating: found)
    }

    /// Checks names and types.
    package init(
        validating found: [(name: String, descriptor: Int32)]
    ) throws(SystemdError) {
        var descriptors: [Name: Int32] = [:]
        for (text, descriptor) in found {
            guard let name = Name(rawValue: text), descriptors[name] == nil else {
                throw Self.failure(
                    .unexpected,
                    text,
                    "expected one 'control', one 'submit' and one 'viewer'"
                )
            }
            guard
                sd_is_socket_unix(descriptor, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0
            else {
                throw Self.failure(
                    .wrongType,
                    text,
                    "it must be a listening unix stream socket (ListenStream=)"
                )
            }
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
                throw Self.failure(.system, text, "\(ErrorNumber.current)")
            }
            descriptors[name] = descriptor
        }
        for name in [Name.control, .submit]
        where !descriptors.isEmpty && descriptors[name] == nil {
            throw Self.failure(
                .missing,
                name.rawValue,
                "other sockets were passed; enable the socket units of control and submit, or none"
            )
        }
        self.descriptors = descriptors
    }

    private static func failure(
        _ kind: SystemdError.Kind,
        _ name: String,
        _ cause: String
    ) -> SystemdError {
        SystemdError(
            kind,
            cannot: "take over sockets",
            at: LogText.sanitized(name),
            because: cause
        )
    }
}
