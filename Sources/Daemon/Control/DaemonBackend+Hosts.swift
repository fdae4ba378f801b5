import Control
import Engine
import Lifecycle
import Storage

extension DaemonBackend {
    func hosts(caller: Caller) async throws(ControlProblem) -> WireList<WireHost> {
        guard let shared = parts.shared else { return WireList([]) }
        let found = try await attempt("hosts") { try await shared.hosts() }
        return WireList(
            found.map { status in
                var host = WireHost(
                    name: status.name,
                    partitions: status.partitions.members.count,
                    renewedAt: status.lastRenewal
                )
                host.isSteward = status.partitions.contains(Stewardship.partition)
                host.isThis = status.name == shared.host
                return host
            }
        )
    }

    /// What one host does for all is begun there.
    ///
    /// - Throws: ``Control/ControlProblem`` `wrong_state` with the name of the steward.
    func requireSteward() async throws(ControlProblem) {
        guard !parts.steward.isHere else { return }
        let name = try await hosts(caller: Caller(role: .operator, uid: 0)).items
            .first(where: \.isSteward)?.name
        throw ControlProblem(
            .wrongState,
            name.map { "host '\($0)' does this for all hosts; run it there" }
                ?? "no host does this now; try again in some seconds"
        )
    }
}
