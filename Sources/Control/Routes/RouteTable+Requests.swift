import Encoding

extension RouteTable {
    static let requests: [Route] = [
        .post(
            .makePlan,
            "/v1/plans",
            "What deleting a user would do, and how much of it; nothing is done.",
            PlanInput.self,
            problems: [.malformedUserID, .missingField, .planRefused]
        ) { call, input throws(ControlProblem) in
            try await call.backend.makePlan(for: input.user, caller: call.caller)
        },
        .view(
            .listRequests,
            "/v1/requests",
            "List requests, newest first.",
            role: .submit,
            problems: [.malformedQuery]
        ) { call throws(ControlProblem) in
            let filter = try WireRequestFilter(query: call.query)
            guard filter.user == nil || call.caller.role != .viewer else {
                throw ControlProblem(.forbidden, "viewers may not look for a user")
            }
            return try await call.backend.list(filter, caller: call.caller)
        },
        .post(
            .submitRequest,
            "/v1/requests",
            "Hand in a request; answered when it is durable.",
            WireSubmission.self,
            role: .submit,
            status: 202,
            problems: [
                .alreadyErased, .alreadyOpen, .clientIDRequired, .freshSignInRequired,
                .idempotencyConflict, .intakePaused, .mailOff, .malformedField, .malformedIDToken,
                .malformedIdempotencyKey, .malformedOption, .malformedUserID, .missingField,
                .reauthorizationRefused, .subjectMismatch, .unavailable, .unknownClientID,
                .unknownKind, .unknownOption,
                .unknownProvider, .vaultSealed,
            ],
            location: { "/v1/requests/\($0.id)" },
            { call, submission throws(ControlProblem) in
                try await call.backend.submit(
                    submission,
                    idempotencyKey: call.idempotencyKey,
                    caller: call.caller
                )
            }
        ),
        .get(
            .showRequest,
            "/v1/requests/{id}",
            "One request with its identities and steps.",
            role: .submit,
            problems: [.requestNotFound]
        ) { call throws(ControlProblem) in
            try await call.backend.show(call.requestID, caller: call.caller)
        },
        action(
            .abandonRequest,
            "abandon",
            "Give up its revocations, a store without_keys or in other_spelling, or its rechecks.",
            AbandonInput.self,
            problems: [.missingField, .tooLate, .unknownProvider]
        ) { input in .abandon(reason: input.reason, provider: input.provider) },
        action(
            .approveRequest,
            "approve",
            "Approve the plan with this hash; the submitter may not.",
            ApproveInput.self,
            problems: [.missingField, .operatorUnknown, .planChanged, .sameOperator]
        ) { input in .approve(plan: input.plan) },
        action(
            .cancelRequest,
            "cancel",
            "Stop it while nothing irreversible was decided.",
            EmptyInput.self,
            role: .submit,
            problems: [.tooLate]
        ) { _ in .cancel },
        .bare(
            .watchRequest,
            "/v1/requests/{id}/events",
            "Live changes of one request.",
            .events,
            problems: [.requestNotFound]
        ) { call throws(ControlProblem) in
            let (id, last) = (try call.requestID, call.lastEventID)
            return .events(try await call.backend.events(id, after: last, caller: call.caller))
        },
        action(
            .holdRequest,
            "hold",
            "Stop before the next step until it is released.",
            ReasonInput.self
        ) { input in .hold(reason: input.reason) },
        .get(
            .showPlan,
            "/v1/requests/{id}/plan",
            "The plan that was made last, and how it differs from the one before.",
            problems: [.requestNotFound, .wrongState]
        ) { call throws(ControlProblem) in
            try await call.backend.plan(of: call.requestID, caller: call.caller)
        },
        .post(
            .reauthorizeRequest,
            "/v1/requests/{id}/reauthorize",
            "Bring a fresh sign-in to a request that waits for one.",
            ReauthorizeInput.self,
            role: .submit,
            problems: [
                .clientIDRequired, .malformedIDToken, .missingField, .reauthorizationRefused,
                .requestNotFound, .subjectMismatch, .unknownClientID, .unknownProvider,
                .vaultSealed, .wrongState,
            ]
        ) { call, input throws(ControlProblem) in
            try await call.backend.reauthorize(call.requestID, with: input, caller: call.caller)
        },
        .bare(
            .showReceipt,
            "/v1/requests/{id}/receipt",
            "The proof for one request.",
            .receipt,
            role: .submit,
            problems: [.requestNotFound, .wrongState]
        ) { call throws(ControlProblem) in
            .json(
                try await call.backend.receipt(call.requestID, caller: call.caller).canonicalBytes
            )
        },
        action(.releaseRequest, "release", "Lift a hold.", EmptyInput.self) { _ in .release },
        action(.retryRequest, "retry", "Try again now whatever waits.", EmptyInput.self) { _ in
            .retry
        },
        .get(
            .showSettings,
            "/v1/settings/{view}",
            "The configuration in force as TOML, with the names of credentials.",
            problems: [.malformedField]
        ) { call throws(ControlProblem) in
            guard let view = SettingsView(rawValue: call.values[0]) else {
                throw ControlProblem(
                    .malformedField,
                    "a view is one of \(SettingsView.allCases.map(\.rawValue))"
                )
            }
            return try await call.backend.settings(view, caller: call.caller)
        },
        .view(.status, "/v1/status", "State of the service.", role: .submit) {
            call throws(ControlProblem) in
            try await call.backend.status(caller: call.caller)
        },
    ]

    /// A verb that is done to one request and answers with it; its name ends the path.
    private static func action<Input: WireInput>(
        _ operation: Operation,
        _ verb: String,
        _ summary: String,
        _ input: Input.Type,
        role: ControlRole = .operator,
        problems: [ControlProblem.Code] = [],
        _ action: @escaping @Sendable (Input) throws(ControlProblem) -> RequestAction
    ) -> Route {
        .post(
            operation,
            "/v1/requests/{id}/\(verb)",
            summary,
            input,
            role: role,
            problems: (problems + [.requestNotFound, .wrongState]).sorted {
                $0.rawValue < $1.rawValue
            }
        ) { call, input throws(ControlProblem) in
            try await call.backend.act(action(input), on: call.requestID, caller: call.caller)
        }
    }
}
