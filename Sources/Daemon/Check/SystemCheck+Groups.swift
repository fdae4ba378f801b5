import Settings

/// The groups of the sockets that the service makes where systemd passes none.
extension SystemCheck {
    func groupFindings(_ configuration: DaemonConfiguration) -> [Finding] {
        let server = configuration.server
        let groups: [(key: String, name: String?)] = [
            (key: "server.operator_group", name: server.operatorGroup),
            (key: "server.submit_group", name: server.submitGroup),
            (key: "server.viewer_group", name: server.viewerGroup),
        ]
        return groups.compactMap { key, name -> Finding? in
            do throws(DaemonError) {
                _ = try SocketGroup.id(of: name, key)
                return nil
            } catch {
                return Finding(
                    at: place(of: key, in: configuration) + ": \(key)",
                    "the system knows no group '\(name ?? "")': only root and the service's user"
                        + " can use the socket",
                    remedy: "create it with groupadd --system, or correct the name"
                )
            }
        }
    }
}
