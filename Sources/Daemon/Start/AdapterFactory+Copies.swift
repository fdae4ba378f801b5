import Engine
import Lifecycle
import Settings
import Stores

extension AdapterFactory {
    /// A target on a copy of the store, for a drill; to be shut down.
    ///
    /// The copy is never the location of a configured target: a drill must not touch live data.
    func makeCopy(
        of name: TargetName,
        at place: String,
        _ configuration: DaemonConfiguration
    ) async -> DrillCopy {
        guard let target = configuration.targets.first(where: { $0.name == name }) else {
            return .refused(code: "no_copies", detail: "the target is not configured any more")
        }
        guard let original = target.store as? any DrillCopying else {
            return .refused(
                code: "no_copies",
                detail: "a store of kind \"\(target.kind)\" has no copies"
            )
        }
        let store: any DrillCopying
        do {
            store = try original.copy(at: place)
        } catch {
            switch error {
            case .malformed(let requirement): return Self.bad("the copy must be \(requirement)")
            case .impossible(let why): return .refused(code: "no_copies", detail: why)
            }
        }
        do {
            let copy = target.with(store)
            var environment = storeEnvironment(of: copy, in: configuration)
            environment.notes = nil
            for other in configuration.targets where try store.overlaps(other.store, environment) {
                return Self.bad("that is the store of target '\(other.name)', and no copy")
            }
            return .made(try await store.open(environment))
        } catch {
            return Self.bad("\(error)")
        }
    }

    private static func bad(_ detail: String) -> DrillCopy {
        .refused(code: "bad_copy", detail: detail)
    }
}
