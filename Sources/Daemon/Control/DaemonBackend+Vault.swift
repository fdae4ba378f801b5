import Control
import Engine
import Lifecycle
import Storage
import Vault

extension DaemonBackend {
    func vault(caller: Caller) async throws(ControlProblem) -> WireVault {
        let use = try await attempt("vault") { try await parts.state.vaultKeyUse() }
        var answer = WireVault(
            isSealed: !parts.vault.isOpen,
            activeKeyID: parts.vault.activeKeyID,
            rotation: rotation()
        )
        answer.wraps = Int(clamping: parts.vault.wrapCount)
        answer.wrapsMax = Int(clamping: SealedVault.wrapCountMax)
        let ids = Set(parts.vault.keyIDs).union(use.keys)
        answer.keys = ids.sorted().map { id in
            WireVaultKey(id: id, state: keyState(id), users: use[id] ?? 0)
        }
        return answer
    }

    func rotateVault(caller: Caller) async throws(ControlProblem) -> WireVault {
        try await requireSteward()
        try await attempt("rotate_vault") { try await parts.rotation.begin() }
        audit("rotate_vault", caller)
        return try await vault(caller: caller)
    }

    private func keyState(_ id: String) -> VaultKeyState {
        if id == parts.vault.activeKeyID { return .active }
        return parts.vault.keyIDs.contains(id) ? .retired : .missing
    }

    private func rotation() -> WireKeyRotation {
        let progress = parts.rotation.progress
        let state: KeyRotationState =
            switch progress.state {
            case .idle: .idle
            case .running: .running
            case .finished: .finished
            case .stopped: .stopped
            }
        var answer = WireKeyRotation(state: state)
        answer.rewrapped = progress.rewrapped
        answer.unreadable = progress.unreadable
        answer.startedAt = progress.startedAt
        answer.endedAt = progress.endedAt
        answer.error = progress.error?.rawValue
        return answer
    }
}
