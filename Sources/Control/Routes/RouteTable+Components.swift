import Lifecycle

/// Providers and stores, what providers report, holds on stores, and replays into them.
extension RouteTable {
    static let components: [Route] = [
        .view(.listHolds, "/v1/holds", "The holds on stores and users, the oldest first.") {
            call throws(ControlProblem) in try await call.backend.holds(caller: call.caller)
        },
        .post(
            .holdStore,
            "/v1/holds/{name}",
            "Let nothing be purged from a store, or not these rows, until it is released.",
            HoldInput.self,
            method: .put,
            problems: [.filterRefused, .missingField, .unknownStore, .wrongState]
        ) { call, input throws(ControlProblem) in
            let name = call.values[0]
            guard ComponentName.isValid(name) else {
                throw ControlProblem(
                    .malformedField,
                    "a name has 1 to 64 letters, digits, '.', '_' and '-'"
                )
            }
            return try await call.backend.placeHold(name, input, caller: call.caller)
        },
        .verb(
            .liftHold,
            "/v1/holds/{name}/release",
            "Lift a hold on a store or a user.",
            problems: [.holdNotFound]
        ) {
            call throws(ControlProblem) in
            try await call.backend.liftHold(call.name(else: .holdNotFound), caller: call.caller)
        },
        .bare(
            .takeNotification,
            "/v1/notifications/{provider}",
            "Hand on what a provider sent to the web server; answered when it is durable.",
            .object(WireNotification.self),
            method: .post,
            role: .submit,
            problems: [.bodyTooLarge, .notificationsOff, .unknownProvider]
        ) { call throws(ControlProblem) in
            let input = NotificationInput(body: call.body, fields: call.fields)
            let provider = ProviderName(try call.name(else: .unknownProvider))
            return .object(
                try await call.backend.takeNotification(
                    input,
                    provider: provider,
                    caller: call.caller
                )
            )
        },
        .get(
            .notificationStatus,
            "/v1/notifications/{provider}/status/{code}",
            "Where the erasure behind a confirmation code stands, for the status page.",
            role: .submit,
            problems: [.notificationNotFound, .unknownProvider]
        ) { call throws(ControlProblem) in
            let provider = ProviderName(try call.name(else: .unknownProvider))
            return try await call.backend.notificationStatus(
                call.values[1],
                provider: provider,
                caller: call.caller
            )
        },
        .view(.listProviders, "/v1/providers", "Health of every provider.") {
            call throws(ControlProblem) in
            try await call.backend.providers(caller: call.caller)
        },
        .view(.listStores, "/v1/stores", "Health of every store.") {
            call throws(ControlProblem) in
            try await call.backend.stores(caller: call.caller)
        },
        .post(
            .suggestRules,
            "/v1/stores/{name}/suggest",
            "Write rules for a store of tables, from its schema and sampled values.",
            SuggestInput.self,
            problems: [.suggestionRefused, .unknownStore]
        ) { call, input throws(ControlProblem) in
            let store = StoreName(try call.name(else: .unknownStore))
            return try await call.backend.suggest(input, store: store, caller: call.caller)
        },
        .get(.showReplay, "/v1/replay", "The replay that runs, or ran last.") {
            call throws(ControlProblem) in
            try await call.backend.replay(caller: call.caller)
        },
        .post(
            .startReplay,
            "/v1/replay",
            "Repeat erasures in stores that were restored from a backup.",
            ReplayTerms.self,
            status: 202,
            problems: [.missingField, .unknownStore, .wrongState]
        ) { call, input throws(ControlProblem) in
            try await call.backend.startReplay(input, caller: call.caller)
        },
    ]

    static let verbs: [Route] =
        actions("provider", \.providerOperation, .unknownProvider) {
            call,
            action,
            name throws(ControlProblem) in
            let provider = ProviderName(name)
            return try await call.backend.control(action, provider: provider, caller: call.caller)
        }
        + actions("store", \.storeOperation, .unknownStore) {
            call,
            action,
            name throws(ControlProblem) in
            let store = StoreName(name)
            return try await call.backend.control(action, store: store, caller: call.caller)
        }

    private static func actions(
        _ word: String,
        _ operation: (ComponentAction) -> Operation,
        _ unknown: ControlProblem.Code,
        _ control:
            @escaping @Sendable (RouteCall, ComponentAction, String)
            async throws(ControlProblem) -> WireHealth
    ) -> [Route] {
        ComponentAction.allCases.map { action in
            let summary =
                switch action {
                case .check: "Ask one \(word) now whether it works."
                case .pause: "Start no new work at one \(word)."
                case .resume: "Start work at one \(word) again."
                }
            return .verb(
                operation(action),
                "/v1/\(word)s/{name}/\(action.rawValue)",
                summary,
                problems: [unknown]
            ) { call throws(ControlProblem) in
                try await control(call, action, call.name(else: unknown))
            }
        }
    }
}
