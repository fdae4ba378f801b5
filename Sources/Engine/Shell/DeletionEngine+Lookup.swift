import Lifecycle
import Synchronization

extension DeletionEngine {
    /// Asks a directory for the identities of a user.
    func lookUp(_ id: RequestID, at name: ProviderName, _ user: UserID) async {
        let directory = adapters.withLock { $0.directory }
        guard let directory, directory.name == name else {
            answer(id, .trouble(.misconfigured), from: name)
            return
        }
        switch await directory.links(of: user) {
        case .links(let links): answer(id, .found(links.map(identity)), from: name)
        case .trouble(let trouble): answer(id, .trouble(trouble), from: name)
        }
    }

    private func answer(_ id: RequestID, _ answer: LookupAnswer, from name: ProviderName) {
        var trouble: Trouble?
        if case .trouble(let known) = answer { trouble = known }
        post(.answered(id, .lookedUp(answer), name, trouble))
    }

    private func identity(_ link: DirectoryLink) -> LinkedIdentity {
        var generator = SystemRandomNumberGenerator()
        return LinkedIdentity(
            identity: IdentityID(TimeOrderedID(at: ports.clock.now(), entropy: &generator)),
            provider: link.provider,
            isLocal: link.isLocal,
            subjectHash: link.subject.map { SubjectHash.make($0, at: link.provider, ports.hasher) }
        )
    }
}
