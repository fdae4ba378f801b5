import Engine
import HTTP
import Lifecycle
import Settings
import Systemd
import Stores

extension AdapterFactory {
    /// A target that works on a copy of the store, for a drill.
    ///
    /// The copy is never the place of any target: a drill must not touch what is live.
    ///
    /// - Parameters:
    ///   - name: The target.
    ///   - place: Where the copy is; ``Settings/TargetKind/copy(at:)``.
    ///   - configuration: What is in force.
    /// - Returns: The target, to be shut down, or why there is none.
    func makeCopy(
        of name: TargetName,
        at place: String,
        _ configuration: DaemonConfiguration
    ) async -> DrillCopy {
        guard let target = configuration.targets.first(where: { $0.name == name }) else {
            return .refused(code: "no_copies", detail: "the target is not configured any more")
        }
        let kind: TargetKind
        switch target.kind.copy(at: place) {
        case .placed(let placed): kind = placed
        case .malformed(let requirement): return Self.bad("the copy must be \(requirement)")
        case .none(let why): return .refused(code: "no_copies", detail: why)
        }
        do {
            for other in configuration.targets where try isLive(kind, other.kind) {
                return Self.bad("that is the store of target '\(other.name)', and no copy")
            }
            var clients: [GoogleClient] = []
            let copy = try await make(
                target.with(kind),
                in: configuration,
                noting: &clients
            )
            return .made(copy, clients.first)
        } catch {
            return Self.bad("\(error)")
        }
    }

    private static func bad(_ detail: String) -> DrillCopy {
        .refused(code: "bad_copy", detail: detail)
    }

    /// Whether a copy is, or overlaps, what a target works on.
    private func isLive(_ copy: TargetKind, _ live: TargetKind) throws -> Bool {
        if copy.isPlace(of: live) { return true }
        switch (copy, live) {
        case (.sqlite(let one), .sqlite(let two)):
            return FilePlace(one.path).isSame(as: two.path)
        case (.files(let one), .files(let two)):
            return FilePlace(one.root).isWithin(two.root)
                || FilePlace(two.root).isWithin(one.root)
        case (.postgresql(let one), .postgresql(let two)):
            let (there, here) = (try place(of: one), try place(of: two))
            return there.isDatabase(of: here)
        default: return false
        }
    }

    /// Where a connection string leads.
    private func place(of postgresql: PostgreSQLTargetConfiguration) throws -> PostgreSQLPlace {
        let conninfo = try credentials?.read(postgresql.conninfoCredential)
        let place = conninfo.flatMap { PostgreSQLPlace($0, database: postgresql.database) }
        guard let place else {
            throw DaemonError(
                .target,
                [
                    "credential '\(postgresql.conninfoCredential)' must hold a connection string"
                        + " with dbname, or nobody can tell a copy from the store"
                ]
            )
        }
        return place
    }
}
