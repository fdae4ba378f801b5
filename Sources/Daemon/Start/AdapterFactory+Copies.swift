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
    ) async -> RecheckCopy {
        guard let target = configuration.targets.first(where: { $0.name == name }) else {
            return Self.refused("no_copies", "the target is not configured any more")
        }
        guard let original = target.store as? any DrillCopying else {
            return Self.refused("no_copies", "a store of kind \"\(target.kind)\" has no copies")
        }
        let store: any DrillCopying
        do {
            store = try original.copy(at: place)
        } catch {
            switch error {
            case .malformed(let requirement):
                return Self.refused("bad_copy", "the copy must be \(requirement)")
            case .impossible(let why): return Self.refused("no_copies", why)
            }
        }
        do {
            let copy = target.with(store)
            var environment = storeEnvironment(of: copy, in: configuration)
            environment.notes = nil
            for other in configuration.targets where try store.overlaps(other.store, environment) {
                let reason = "that is the store of target '\(other.name)', and no copy"
                return Self.refused("bad_copy", reason)
            }
            let made = try await store.open(environment)
            return RecheckCopy(store: made, close: { await made.shutdown() })
        } catch {
            return Self.refused("bad_copy", "\(error)")
        }
    }

    private static func refused(_ code: String, _ detail: String) -> RecheckCopy {
        RecheckCopy(refusal: CopyRefusal(code: code, detail: detail))
    }
}
