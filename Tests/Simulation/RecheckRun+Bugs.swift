import Lifecycle

/// Runs with a bug inside, for the invariants to find.
extension RecheckRun {
    /// Handles an event as a run would that passes over one of its transitions.
    mutating func handle(
        _ event: RecheckEvent,
        _ context: inout StepContext,
        in environment: RecheckEnvironment,
        with bug: PlantedBug?
    ) -> [RecheckEffect] {
        let effects = handle(event.misheard(bug), &context, in: environment)
        switch bug {
        case .skippedNote where effects.contains(where: \.isNote):
            let others = effects.filter { !$0.isNote }
            return others + handle(.noted([]), &context, in: environment)
        case .originalForCopy: return effects.map(\.inOriginal)
        default: return effects
        }
    }
}

extension RecheckEvent {
    fileprivate func misheard(_ bug: PlantedBug?) -> RecheckEvent {
        switch (bug, self) {
        case (.skippedHoldCheck, .readHolds): .readHolds([], UsersOnHold())
        case (.droppedLateData, .foundLate): .foundLate([])
        case (.unheardAlarm, .readAlarm): .readAlarm(nil)
        default: self
        }
    }
}

extension RecheckEffect {
    fileprivate var isNote: Bool { if case .state(.note) = self { true } else { false } }

    fileprivate var inOriginal: RecheckEffect {
        guard case .store(let name, .copy, let call) = self else { return self }
        return .store(name, .own, call)
    }
}
