/// Every route of the control API, sorted by path and then by method.
package enum RouteTable {
    /// The rows.
    package static let routes: [Route] =
        daemon + holds + intake + ledger + notifications + plans + providers + replay + requests
        + targets + users
        + vault

    /// The row of one operation; every operation has exactly one, which a test holds.
    package static func route(_ operation: Operation) -> Route {
        guard let route = byOperation[operation] else {
            preconditionFailure("no route for \(operation)")
        }
        return route
    }

    private static let byOperation = Dictionary(
        routes.map { ($0.operation, $0) },
        uniquingKeysWith: { first, _ in first }
    )

    private static let daemon: [Route] = [
        row(.metrics, .get, "/metrics", .operator, "Metrics as OpenMetrics text.", .metrics),
        row(
            .reloadConfiguration,
            .post,
            "/v1/configuration/reload",
            .operator,
            "Read the configuration again, as systemctl reload does.",
            .object(WireReload.self),
            input: EmptyInput.self,
            problems: [.configurationInvalid]
        ),
        row(
            .watchAll,
            .get,
            "/v1/events",
            .operator,
            "Live changes of everything.",
            .events(WireEvent.self)
        ),
        row(
            .overrideGuard,
            .post,
            "/v1/guard/override",
            .operator,
            "Open the mass-deletion guard once, counted and expiring.",
            .object(WireGuard.self),
            input: OverrideInput.self,
            problems: [.wrongState]
        ),
    ]

    private static let intake: [Route] = [
        row(
            .pauseIntake,
            .post,
            "/v1/intake/pause",
            .operator,
            "Stop taking requests.",
            .object(WireStatus.self),
            input: EmptyInput.self
        ),
        row(
            .resumeIntake,
            .post,
            "/v1/intake/resume",
            .operator,
            "Take requests again.",
            .object(WireStatus.self),
            input: EmptyInput.self
        ),
    ]

    private static let ledger: [Route] = [
        row(
            .showLedger,
            .get,
            "/v1/ledger",
            .operator,
            "The ledger's key, size and last checkpoint.",
            .object(WireLedger.self)
        ),
        row(
            .acceptRollback,
            .post,
            "/v1/ledger/accept-rollback",
            .operator,
            "Go on with a state that is older than its checkpoints, or was changed.",
            .object(WireLedger.self),
            input: EmptyInput.self,
            problems: [.wrongState]
        ),
        row(
            .ledgerEntries,
            .get,
            "/v1/ledger/entries/{from}",
            .operator,
            "A page of entries, from the one with this index.",
            .object(WireLedgerEntries.self),
            problems: [.malformedField]
        ),
        row(
            .verifyLedger,
            .post,
            "/v1/ledger/verify",
            .operator,
            "Compare every entry with every checkpoint.",
            .object(WireLedger.self),
            input: EmptyInput.self
        ),
    ]

    private static let notifications: [Route] = [
        row(
            .takeNotification,
            .post,
            "/v1/notifications/{provider}",
            .submit,
            "Hand on what a provider sent to the web server; answered when it is durable.",
            .object(WireNotification.self),
            problems: [.bodyTooLarge, .notificationsOff, .unknownProvider]
        ),
        row(
            .notificationStatus,
            .get,
            "/v1/notifications/{provider}/status/{code}",
            .submit,
            "Where the erasure behind a confirmation code stands, for the status page.",
            .object(WireNotificationStatus.self),
            problems: [.notificationNotFound, .unknownProvider]
        ),
    ]

    private static let plans: [Route] = [
        row(
            .makePlan,
            .post,
            "/v1/plans",
            .operator,
            "What deleting a user would do, and how much of it; nothing is done.",
            .object(WirePlan.self),
            input: PlanInput.self,
            problems: [.malformedUserID, .missingField]
        )
    ]

    private static let providers: [Route] =
        [
            row(
                .listProviders,
                .get,
                "/v1/providers",
                .operator,
                "Health of every provider.",
                .object(WireList<WireHealth>.self)
            )
        ]
        + components(
            "providers",
            "provider",
            [.checkProvider, .pauseProvider, .resumeProvider],
            .unknownProvider
        )

    private static let targets: [Route] =
        [
            row(
                .listTargets,
                .get,
                "/v1/targets",
                .operator,
                "Health of every target.",
                .object(WireList<WireHealth>.self)
            )
        ]
        + components(
            "targets",
            "target",
            [.checkTarget, .pauseTarget, .resumeTarget],
            .unknownTarget
        )

    private static func components(
        _ plural: String,
        _ word: String,
        _ operations: [Operation],
        _ unknown: ControlProblem.Code
    ) -> [Route] {
        let summaries = [
            "Ask one \(word) now whether it works.", "Start no new work at one \(word).",
            "Start work at one \(word) again.",
        ]
        return zip(operations, zip(["check", "pause", "resume"], summaries)).map {
            operation,
            text in
            row(
                operation,
                .post,
                "/v1/\(plural)/{name}/\(text.0)",
                .operator,
                text.1,
                .object(WireHealth.self),
                input: EmptyInput.self,
                problems: [unknown]
            )
        }
    }

    private static let replay: [Route] = [
        row(
            .showReplay,
            .get,
            "/v1/replay",
            .operator,
            "The replay that runs, or ran last.",
            .object(WireReplay.self)
        ),
        Route(
            operation: .startReplay,
            method: .post,
            pattern: "/v1/replay",
            role: .operator,
            summary: "Erase again what a restored backup of a store brought back.",
            input: ReplayInput.self,
            answer: .object(WireReplay.self),
            successStatus: 202,
            problems: [.missingField, .unknownTarget, .wrongState]
        ),
    ]

    private static let requests: [Route] = [
        row(
            .listRequests,
            .get,
            "/v1/requests",
            .submit,
            "List requests, newest first.",
            .object(WireList<WireRequest>.self),
            problems: [.malformedQuery]
        ),
        Route(
            operation: .submitRequest,
            method: .post,
            pattern: "/v1/requests",
            role: .submit,
            summary: "Hand in a request; answered when it is durable.",
            input: Submission.self,
            answer: .object(WireRequest.self),
            successStatus: 202,
            problems: [
                .alreadyErased, .alreadyOpen, .clientIDRequired, .freshSignInRequired,
                .idempotencyConflict, .intakePaused, .malformedIDToken, .malformedIdempotencyKey,
                .malformedOption, .malformedUserID, .missingField, .reauthorizationRefused,
                .subjectMismatch, .unavailable, .unknownClientID, .unknownKind, .unknownOption,
                .unknownProvider,
            ]
        ),
        row(
            .showRequest,
            .get,
            "/v1/requests/{id}",
            .submit,
            "One request with its identities and steps.",
            .object(WireRequest.self),
            problems: [.requestNotFound]
        ),
        action(
            .abandonRequest,
            "abandon",
            .operator,
            "Give up on revoking; needs a reason.",
            ReasonInput.self,
            [.missingField, .unknownProvider]
        ),
        action(
            .approveRequest,
            "approve",
            .operator,
            "Approve the plan with this hash; not by whoever handed the request in.",
            ApproveInput.self,
            [.missingField, .operatorUnknown, .planChanged, .sameOperator]
        ),
        action(
            .cancelRequest,
            "cancel",
            .submit,
            "Stop it while nothing irreversible was decided.",
            EmptyInput.self,
            [.tooLate]
        ),
        row(
            .watchRequest,
            .get,
            "/v1/requests/{id}/events",
            .operator,
            "Live changes of one request.",
            .events(WireEvent.self),
            problems: [.requestNotFound]
        ),
        action(
            .holdRequest,
            "hold",
            .operator,
            "Stop before the next step until it is released.",
            ReasonInput.self,
            []
        ),
        row(
            .showPlan,
            .get,
            "/v1/requests/{id}/plan",
            .operator,
            "The plan that was made last, and how it differs from the one before.",
            .object(WirePlan.self),
            problems: [.requestNotFound, .wrongState]
        ),
        action(
            .reauthorizeRequest,
            "reauthorize",
            .submit,
            "Bring a fresh sign-in to a request that waits for one.",
            ReauthorizeInput.self,
            [
                .clientIDRequired, .malformedIDToken, .missingField, .reauthorizationRefused,
                .subjectMismatch, .unknownClientID, .unknownProvider, .vaultSealed,
            ]
        ),
        row(
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
        ),
        action(.releaseRequest, "release", .operator, "Lift a hold.", EmptyInput.self, []),
        action(
            .retryRequest,
            "retry",
            .operator,
            "Try again now whatever waits.",
            EmptyInput.self,
            []
        ),
        row(
            .status,
            .get,
            "/v1/status",
            .submit,
            "How the daemon is doing.",
            .object(WireStatus.self)
        ),
    ]

    private static let users: [Route] = [
        row(
            .holdUser,
            .post,
            "/v1/users/{user_id}/hold",
            .operator,
            "Put a legal hold on a user.",
            .object(WireUserHold.self),
            input: ReasonInput.self,
            problems: [.malformedUserID]
        ),
        row(
            .listIdentities,
            .get,
            "/v1/users/{user_id}/identities",
            .submit,
            "A user's identities, never secrets.",
            .object(WireList<WireIdentity>.self),
            problems: [.malformedUserID]
        ),
        Route(
            operation: .forgetIdentity,
            method: .delete,
            pattern: "/v1/users/{user_id}/identities/{identity}",
            role: .operator,
            summary: "Destroy the credentials of the identity with this id, without revoking them.",
            input: nil,
            answer: .nothing,
            successStatus: 204,
            problems: [.deletionInProgress, .identityNotFound, .malformedUserID]
        ),
        Route(
            operation: .putCredential,
            method: .put,
            pattern: "/v1/users/{user_id}/identities/{identity}",
            role: .submit,
            summary: "Seal a credential for the provider of this name.",
            input: CredentialInput.self,
            answer: .object(WireStoredCredential.self),
            successStatus: 202,
            problems: [
                .clientIDRequired, .deletionInProgress, .malformedIDToken, .malformedUserID,
                .missingField, .missingSecret, .subjectMismatch, .tooManyCredentials,
                .unknownClientID, .unknownCredentialKind, .unknownProvider, .vaultSealed,
            ]
        ),
        row(
            .releaseUser,
            .post,
            "/v1/users/{user_id}/release",
            .operator,
            "Lift the legal hold on a user; holds on single requests stay.",
            .object(WireUserHold.self),
            input: EmptyInput.self,
            problems: [.holdNotFound, .malformedUserID]
        ),
    ]

    private static let vault: [Route] = [
        row(
            .showVault,
            .get,
            "/v1/vault",
            .operator,
            "The vault's keys, and how far a rotation is.",
            .object(WireVault.self)
        ),
        Route(
            operation: .rotateVault,
            method: .post,
            pattern: "/v1/vault/rotate",
            role: .operator,
            summary: "Wrap every user's data key anew under the active vault key.",
            input: EmptyInput.self,
            answer: .object(WireVault.self),
            successStatus: 202,
            problems: [.vaultSealed]
        ),
    ]

    private static func action(
        _ operation: Operation,
        _ verb: String,
        _ role: ControlRole,
        _ summary: String,
        _ input: any WireObject.Type,
        _ problems: [ControlProblem.Code]
    ) -> Route {
        row(
            operation,
            .post,
            "/v1/requests/{id}/\(verb)",
            role,
            summary,
            .object(WireRequest.self),
            input: input,
            problems: (problems + [.requestNotFound, .wrongState]).sorted {
                $0.rawValue < $1.rawValue
            }
        )
    }

    static func row(
        _ operation: Operation,
        _ method: Route.Method,
        _ pattern: String,
        _ role: ControlRole,
        _ summary: String,
        _ answer: Route.Answer,
        input: (any WireObject.Type)? = nil,
        problems: [ControlProblem.Code] = []
    ) -> Route {
        Route(
            operation: operation,
            method: method,
            pattern: pattern,
            role: role,
            summary: summary,
            input: input,
            answer: answer,
            successStatus: 200,
            problems: problems
        )
    }
}
