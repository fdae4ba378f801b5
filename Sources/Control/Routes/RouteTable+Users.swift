import Lifecycle

extension RouteTable {
    static let users: [Route] = [
        .post(
            .holdUser,
            "/v1/users/{user_id}/hold",
            "Put a legal hold on a user.",
            ReasonInput.self,
            problems: [.malformedUserID]
        ) { call, input throws(ControlProblem) in
            let reason = input.reason
            return try await call.backend.setHold(
                true,
                user: call.user,
                reason: reason,
                caller: call.caller
            )
        },
        .get(
            .listIdentities,
            "/v1/users/{user_id}/identities",
            "A user's identities, never secrets.",
            role: .submit,
            problems: [.malformedUserID]
        ) { call throws(ControlProblem) in
            try await call.backend.identities(of: call.user, caller: call.caller)
        },
        .bare(
            .forgetIdentity,
            "/v1/users/{user_id}/identities/{identity}",
            "Destroy the credentials of the identity with this id, without revoking them.",
            .nothing,
            method: .delete,
            status: 204,
            problems: [.deletionInProgress, .identityNotFound, .malformedUserID]
        ) { call throws(ControlProblem) in
            let user = try call.user
            guard let identity = IdentityID(call.values[1]) else {
                throw ControlProblem(.identityNotFound)
            }
            try await call.backend.forgetIdentity(identity, of: user, caller: call.caller)
            return .nothing
        },
        .post(
            .putCredential,
            "/v1/users/{user_id}/identities/{identity}",
            "Seal a credential for the provider of this name.",
            SubmittedCredential.self,
            role: .submit,
            method: .put,
            status: 202,
            problems: [
                .clientIDRequired, .deletionInProgress, .malformedIDToken, .malformedUserID,
                .missingField, .missingSecret, .subjectMismatch, .tooManyCredentials,
                .unknownClientID, .unknownCredentialKind, .unknownProvider, .vaultSealed,
            ]
        ) { call, input throws(ControlProblem) in
            try await call.backend.putCredential(
                input,
                user: call.user,
                provider: ProviderName(call.name(at: 1, else: .unknownProvider)),
                caller: call.caller
            )
        },
        .verb(
            .releaseUser,
            "/v1/users/{user_id}/release",
            "Lift the legal hold on a user; holds on single requests stay.",
            problems: [.holdNotFound, .malformedUserID]
        ) { call throws(ControlProblem) in
            try await call.backend.setHold(false, user: call.user, reason: nil, caller: call.caller)
        },
    ]
}
