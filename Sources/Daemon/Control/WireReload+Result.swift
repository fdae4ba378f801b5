import Control

extension WireReload {
    init(_ result: ReloadResult) {
        self.init(
            reloadedAt: result.reloadedAt,
            changed: result.changed,
            needRestart: result.needRestart,
            unusable: result.unusable
        )
    }
}

extension WireRefusedReload {
    init(_ refusal: RefusedReload) {
        self.init(refusedAt: refusal.refusedAt, errors: refusal.problems)
    }
}
