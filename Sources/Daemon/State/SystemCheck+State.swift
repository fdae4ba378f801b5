import Engine
import Settings
import Storage
import Systemd

/// The state, where it is in PostgreSQL.
extension SystemCheck {
    private static let guide = "docs/guides/state-in-postgresql.md"

    func stateFindings(_ configuration: DaemonConfiguration) -> [Finding] {
        guard configuration.state.kind == .postgresql else { return [] }
        let place = place(of: "state.conninfo_credential", in: configuration)
        let clock = AnchoredClock()
        do {
            let setup = StateSetup(
                configuration: configuration,
                directories: try ServiceDirectories(
                    environment: environment,
                    overrides: .init(state: folders.state, credentials: folders.credentials)
                )
            )
            return try StateDatabase.examine(try setup.plan(now: { clock.now() })).map {
                Finding(.warning, at: place, $0.reason, remedy: "\($0.remedy); see \(Self.guide)")
            }
        } catch {
            return [Finding(at: place, "\(error)", remedy: Remedy.of(error, Self.guide))]
        }
    }
}
