import Control
import Engine
import Lifecycle
import Logging
import Settings

extension DaemonBackend {
    func suggest(
        _ input: SuggestInput,
        target name: TargetName,
        caller: Caller
    ) async throws(ControlProblem) -> WireSuggestion {
        let adapters = parts.registry.current
        let section = adapters.configuration.sections.first {
            $0.scope == .target && $0.text("name") == name.rawValue
        }
        guard let section, let adapter = adapters.targets[name] else {
            throw ControlProblem(.unknownTarget)
        }
        guard let suggesting = adapter.store as? any RuleSuggesting else {
            throw ControlProblem(
                .suggestionRefused,
                "the target has no tables with foreign keys, so that there is no schema to read"
            )
        }
        audit("suggest_rules", caller, ["target": "\(name)"])
        switch await suggesting.suggestion(userTable: input.userTable) {
        case .rules(let text):
            return WireSuggestion(
                name: name.rawValue,
                configuration: section.text(withRules: text)
            )
        case .refused(let reason): throw ControlProblem(.suggestionRefused, reason)
        case .failure(let failure):
            throw ControlProblem(
                .unavailable,
                "the target cannot be read (\(failure.code)); see 'expungectl targets check'"
            )
        }
    }
}

extension SettingsSection {
    /// The section of a target as TOML, with other rules; its keys stay.
    func text(withRules rules: String) -> String {
        let given = EffectiveConfiguration(isComplete: false)
        let lines =
            ["# Suggested by expungectl from the live schema. Nothing of it is in effect yet."]
            + ["[[target]]"] + given.lines(of: self)
        let keys = children.filter { $0.scope == .key }.map { key in
            (["", "[[target.key]]"] + given.lines(of: key)).joined(separator: "\n") + "\n"
        }
        return lines.joined(separator: "\n") + "\n\n" + rules + keys.joined()
    }
}

extension DaemonBackend {
    func settings(
        _ view: SettingsView,
        caller: Caller
    ) async throws(ControlProblem) -> WireSettings {
        let configuration = parts.registry.current.configuration
        let writer = EffectiveConfiguration(
            isComplete: view != .nonDefault,
            isShareable: view == .shareable
        )
        let waiting = ReloadBlockers.find(from: parts.registry.started, to: configuration)
        return WireSettings(
            configuration: writer.text(of: configuration.sections),
            needRestart: waiting.map(\.key)
        )
    }
}
