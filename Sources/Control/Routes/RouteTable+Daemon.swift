/// The daemon as a whole: configuration, guard, hosts, intake, ledger, vault and this document.
extension RouteTable {
    static let daemon: [Route] = [
        .bare(.metrics, "/metrics", "Metrics as Prometheus text.", .metrics, isViewable: true) {
            call throws(ControlProblem) in
            .metrics(Array(try await call.backend.metrics(caller: call.caller).utf8))
        },
        .verb(
            .reloadConfiguration,
            "/v1/configuration/reload",
            "Read the configuration again, as systemctl reload does.",
            problems: [.configurationInvalid]
        ) { call throws(ControlProblem) in try await call.backend.reload(caller: call.caller) },
        .bare(.watchAll, "/v1/events", "Live changes of everything.", .events) {
            call throws(ControlProblem) in
            let last = call.lastEventID
            return .events(try await call.backend.events(nil, after: last, caller: call.caller))
        },
        .post(
            .overrideGuard,
            "/v1/guard/override",
            "Open the mass-deletion guard once, counted and expiring.",
            OverrideInput.self,
            problems: [.wrongState]
        ) { call, input throws(ControlProblem) in
            try await call.backend.overrideGuard(input, caller: call.caller)
        },
        .view(.health, "/v1/health", "Whether the service answers, from memory.", role: .submit) {
            call throws(ControlProblem) in
            try await call.backend.health(caller: call.caller)
        },
        .bare(
            .showAPI,
            "/v1/openapi.json",
            "This document.",
            .openAPI,
            role: .submit,
            isViewable: true
        ) { _ throws(ControlProblem) in .json(OpenAPIDocument.bytes) },
        .get(.listHosts, "/v1/hosts", "The hosts that share the state; none for a state in a file.")
        {
            call throws(ControlProblem) in try await call.backend.hosts(caller: call.caller)
        },
        .verb(.pauseIntake, "/v1/intake/pause", "Stop taking requests.") {
            call throws(ControlProblem) in
            try await call.backend.setIntake(isPaused: true, caller: call.caller)
        },
        .verb(.resumeIntake, "/v1/intake/resume", "Take requests again.") {
            call throws(ControlProblem) in
            try await call.backend.setIntake(isPaused: false, caller: call.caller)
        },
        .view(.showLedger, "/v1/ledger", "The ledger's key, size and last checkpoint.") {
            call throws(ControlProblem) in try await call.backend.ledger(caller: call.caller)
        },
        .verb(
            .acceptRollback,
            "/v1/ledger/accept-rollback",
            "Go on with a state that is older than its checkpoints, or was changed.",
            problems: [.wrongState]
        ) { call throws(ControlProblem) in
            try await call.backend.acceptRollback(caller: call.caller)
        },
        .view(
            .ledgerEntries,
            "/v1/ledger/entries/{from}",
            "A page of entries, from the one with this index.",
            problems: [.malformedField]
        ) { call throws(ControlProblem) in
            guard let from = Int(call.values[0]), from >= 0 else {
                throw ControlProblem(.malformedField, "an index is a number from 0")
            }
            return try await call.backend.ledgerEntries(from: from, caller: call.caller)
        },
        .verb(.verifyLedger, "/v1/ledger/verify", "Compare every entry with every checkpoint.") {
            call throws(ControlProblem) in
            try await call.backend.verifyLedger(caller: call.caller)
        },
        .get(.showVault, "/v1/vault", "The vault's keys, and how far a rotation is.") {
            call throws(ControlProblem) in try await call.backend.vault(caller: call.caller)
        },
        .verb(
            .rotateVault,
            "/v1/vault/rotate",
            "Wrap every user's data key under the active vault key.",
            status: 202,
            problems: [.vaultSealed, .wrongState]
        ) { call throws(ControlProblem) in
            try await call.backend.rotateVault(caller: call.caller)
        },
    ]
}
