import Encoding

/// Requests and their plans.
extension RouteTable {
    static let plans: [Route] = [
        .post(
            .makePlan,
            "/v1/plans",
            .operator,
            "What deleting a user would do, and how much of it; nothing is done.",
            PlanInput.self,
            problems: [.malformedUserID, .missingField]
        ) { call, input throws(ControlProblem) in
            try await call.backend.makePlan(for: input.user, caller: call.caller)
        }
    ]

    static let requests: [Route] = [
        .get(
            .listRequests,
            "/v1/requests",
            .submit,
            "List requests, newest first.",
            problems: [.malformedQuery]
        ) { call throws(ControlProblem) in
            try await call.backend.list(RequestFilter(query: call.query), caller: call.caller)
        },
        .post(
            .submitRequest,
            "/v1/requests",
            .submit,
            "Hand in a request; answered when it is durable.",
            Submission.self,
            status: 202,
            problems: [
                .alreadyErased, .alreadyOpen, .clientIDRequired, .freshSignInRequired,
                .idempotencyConflict, .intakePaused, .malformedIDToken, .malformedIdempotencyKey,
                .malformedOption, .malformedUserID, .missingField, .reauthorizationRefused,
                .subjectMismatch, .unavailable, .unknownClientID, .unknownKind, .unknownOption,
                .unknownProvider,
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
            .submit,
            "One request with its identities and steps.",
            problems: [.requestNotFound]
        ) { call throws(ControlProblem) in
            try await call.backend.show(call.requestID, caller: call.caller)
        },
        action(
            .abandonRequest,
            "abandon",
            .operator,
            "Give up on revoking; needs a reason.",
            ReasonInput.self,
            [.missingField, .unknownProvider]
        ) { input throws(ControlProblem) in
            guard let reason = input.reason else {
                throw ControlProblem(
                    .missingField,
                    "'reason' is missing",
                    errors: [.init(field: "reason", message: "is missing")]
                )
            }
            return .abandon(reason: reason, provider: input.provider)
        },
        action(
            .approveRequest,
            "approve",
            .operator,
            "Approve the plan with this hash; the submitter may not.",
            ApproveInput.self,
            [.missingField, .operatorUnknown, .planChanged, .sameOperator]
        ) { input in .approve(plan: input.plan) },
        action(
            .cancelRequest,
            "cancel",
            .submit,
            "Stop it while nothing irreversible was decided.",
            EmptyInput.self,
            [.tooLate]
        ) { _ in .cancel },
        .watch(
            .watchRequest,
            "/v1/requests/{id}/events",
            "Live changes of one request.",
            problems: [.requestNotFound]
        ) { call throws(ControlProblem) in
            try await call.backend.events(call.requestID, caller: call.caller)
        },
        action(
            .holdRequest,
            "hold",
            .operator,
            "Stop before the next step until it is released.",
            ReasonInput.self
        ) { input in .hold(reason: input.reason) },
        .get(
            .showPlan,
            "/v1/requests/{id}/plan",
            .operator,
            "The plan that was made last, and how it differs from the one before.",
            problems: [.requestNotFound, .wrongState]
        ) { call throws(ControlProblem) in
            try await call.backend.plan(of: call.requestID, caller: call.caller)
        },
        .post(
            .reauthorizeRequest,
            "/v1/requests/{id}/reauthorize",
            .submit,
            "Bring a fresh sign-in to a request that waits for one.",
            ReauthorizeInput.self,
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
            .get,
            "/v1/requests/{id}/receipt",
            .submit,
            """
            The proof for one request. Its configuration says whose words those on kept data, \
            cutoffs, backups and links are: at_completion, or in_force (now) where an earlier \
            version ended it.
            """,
            .document(ReceiptFields.self),
            problems: [.requestNotFound, .wrongState]
        ) { call throws(ControlProblem) in
            .json(
                try await call.backend.receipt(call.requestID, caller: call.caller).canonicalBytes
            )
        },
        action(.releaseRequest, "release", .operator, "Lift a hold.", EmptyInput.self) { _ in
            .release
        },
        action(
            .retryRequest,
            "retry",
            .operator,
            "Try again now whatever waits.",
            EmptyInput.self
        ) { _ in .retry },
        .get(.status, "/v1/status", .submit, "State of the service.") {
            call throws(ControlProblem) in
            try await call.backend.status(caller: call.caller)
        },
    ]

    /// A verb that is done to one request and answers with it.
    private static func action<Input: WireInput>(
        _ operation: Operation,
        _ verb: String,
        _ role: ControlRole,
        _ summary: String,
        _ input: Input.Type,
        _ problems: [ControlProblem.Code] = [],
        _ action: @escaping @Sendable (Input) throws(ControlProblem) -> RequestAction
    ) -> Route {
        .post(
            operation,
            "/v1/requests/{id}/\(verb)",
            role,
            summary,
            input,
            problems: (problems + [.requestNotFound, .wrongState]).sorted {
                $0.rawValue < $1.rawValue
            }
        ) { call, input throws(ControlProblem) in
            try await call.backend.act(action(input), on: call.requestID, caller: call.caller)
        }
    }
}
