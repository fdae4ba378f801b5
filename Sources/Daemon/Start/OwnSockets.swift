import Control
import ControlServer
import Lifecycle
import Logging
import Settings

/// The sockets that the service makes itself, where systemd passes none.
struct OwnSockets: Sendable {
    /// The directory of the sockets.
    let runtime: String
    let server: ServerConfiguration
    let logger: Logger

    /// Binds all of them.
    ///
    /// - Throws: ``ControlServer/ControlServerError`` for a path that cannot be used.
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
