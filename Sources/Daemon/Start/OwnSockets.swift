import Control
import ControlServer
import Glibc
import Lifecycle
import Logging
import Settings

/// The sockets that the service makes itself, where systemd passes none.
struct OwnSockets: Sendable {
    let runtime: String
    let server: ServerConfiguration
    let logger: Logger

    /// Throws ``ControlServer/ControlServerError`` for a path that cannot be used.
    func make() throws -> [ListeningSocket] {
        [
            try socket("control", server.operatorGroup, "server.operator_group", .operator),
            try socket("submit", server.submitGroup, "server.submit_group", .submit),
            try socket("viewer", server.viewerGroup, "server.viewer_group", .viewer),
        ]
    }

    /// One whose group cannot be used is for its owner and root alone: the others are served.
    private func socket(
        _ name: String,
        _ group: String?,
        _ key: String,
        _ role: ControlRole
    ) throws -> ListeningSocket {
        let path = "\(runtime)/\(name).sock"
        do {
            let number = try SocketGroup.id(of: group, key)
            return try ListeningSocket(binding: path, group: number, role: role)
        } catch let error as ControlServerError where error.kind != .group {
            throw error
        } catch {
            note("\(error)", path, key)
            return try ListeningSocket(binding: path, role: role)
        }
    }

    private func note(_ error: String, _ path: String, _ key: String) {
        let reason = error.replacing("\nhint: ", with: "; ")
        logger.note(
            .caution,
            [
                "detail": """
                only root and the service's user can use '\(path)' until the next start: \(reason) \
                (\(key))
                """
            ]
        )
    }
}

enum SocketGroup {
    /// Returns a group's number by number or name; throws for a name that the system does not know.
    static func id(of name: String?, _ key: String) throws(DaemonError) -> UInt32? {
        guard let name else { return nil }
        if let number = UInt32(name) { return number }
        var record = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        let answer = unsafe getgrnam_r(name, &record, &buffer, buffer.count, &found)
        guard answer == 0, let found = unsafe found else {
            throw DaemonError(
                .configuration,
                "cannot use \(key) '\(name)': the system knows no such group",
                "hint: create it, or give its number"
            )
        }
        return unsafe found.pointee.gr_gid
    }
}
