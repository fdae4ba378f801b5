extension ControlProblem {
    /// The closed list of problem codes; stable, and part of the public contract.
    package enum Code: String, Sendable, CaseIterable {
        case alreadyErased = "already_erased"
        case alreadyOpen = "already_open"
        case bodyTooLarge = "body_too_large"
        case clientIDRequired = "client_id_required"
        case configurationInvalid = "configuration_invalid"
        case deletionInProgress = "deletion_in_progress"
        case filterRefused = "filter_refused"
        case forbidden
        case headersTooLarge = "headers_too_large"
        case holdNotFound = "hold_not_found"
        case idempotencyConflict = "idempotency_conflict"
        case identityNotFound = "identity_not_found"
        case intakePaused = "intake_paused"
        case `internal`
        case malformedField = "malformed_field"
        case malformedHTTP = "malformed_http"
        case malformedIDToken = "malformed_id_token"
        case malformedIdempotencyKey = "malformed_idempotency_key"
        case malformedJSON = "malformed_json"
        case malformedOption = "malformed_option"
        case malformedQuery = "malformed_query"
        case malformedUserID = "malformed_user_id"
        case methodNotAllowed = "method_not_allowed"
        case mailOff = "mail_off"
        case messageNotFound = "message_not_found"
        case missingField = "missing_field"
        case missingSecret = "missing_secret"
        case notificationNotFound = "notification_not_found"
        case notificationsOff = "notifications_off"
        case freshSignInRequired = "fresh_sign_in_required"
        case operatorUnknown = "operator_unknown"
        case planChanged = "plan_changed"
        case planRefused = "plan_refused"
        case reauthorizationRefused = "reauthorization_refused"
        case requestNotFound = "request_not_found"
        case requestTimeout = "request_timeout"
        case routeNotFound = "route_not_found"
        case sameOperator = "same_operator"
        case subjectMismatch = "subject_mismatch"
        case suggestionRefused = "suggestion_refused"
        case tooLate = "too_late"
        case tooManyConnections = "too_many_connections"
        case tooManyCredentials = "too_many_credentials"
        case unavailable
        case unknownClientID = "unknown_client_id"
        case unknownCredentialKind = "unknown_credential_kind"
        case unknownField = "unknown_field"
        case unknownKind = "unknown_kind"
        case unknownOption = "unknown_option"
        case unknownProvider = "unknown_provider"
        case unknownTarget = "unknown_target"
        case unsupportedMediaType = "unsupported_media_type"
        case vaultSealed = "vault_sealed"
        case wrongState = "wrong_state"

        /// The HTTP status that goes with it (RFC 9110 §15).
        package var status: Int {
            switch self {
            case .malformedField, .malformedHTTP, .malformedIDToken, .malformedIdempotencyKey,
                .malformedJSON, .malformedOption, .malformedQuery, .malformedUserID, .missingField,
                .missingSecret, .unknownClientID, .unknownCredentialKind, .unknownField,
                .unknownKind, .unknownOption, .clientIDRequired:
                400
            case .forbidden, .freshSignInRequired, .operatorUnknown: 403
            case .holdNotFound, .identityNotFound, .messageNotFound, .notificationNotFound,
                .requestNotFound, .routeNotFound, .unknownProvider, .unknownTarget:
                404
            case .methodNotAllowed: 405
            case .requestTimeout: 408
            case .alreadyErased, .alreadyOpen, .deletionInProgress, .idempotencyConflict,
                .mailOff, .notificationsOff, .planChanged, .sameOperator, .subjectMismatch,
                .tooLate,
                .tooManyCredentials, .wrongState:
                409
            case .bodyTooLarge: 413
            case .unsupportedMediaType: 415
            case .configurationInvalid, .filterRefused, .planRefused, .reauthorizationRefused,
                .suggestionRefused:
                422
            case .headersTooLarge: 431
            case .internal: 500
            case .intakePaused, .tooManyConnections, .unavailable, .vaultSealed: 503
            }
        }
    }
}

extension ControlProblem.Code {
    /// The fixed `title` (RFC 9457 §3.1.3): the same for every occurrence.
    package var title: String {
        switch self {
        case .alreadyErased: "this account is already erased; a later account has its id"
        case .alreadyOpen: "the user has an open deletion with other options"
        case .bodyTooLarge: "the body is too large"
        case .clientIDRequired: "the provider has several client ids and none was named"
        case .configurationInvalid: "the configuration has problems; the running one stays"
        case .deletionInProgress: "the user is being deleted"
        case .filterRefused: "the target cannot keep such rows"
        case .forbidden: "this socket's role does not allow it"
        case .headersTooLarge: "the header fields are too large or too many"
        case .holdNotFound: "no such hold"
        case .idempotencyConflict: "the idempotency key belongs to a different request"
        case .identityNotFound: "no such identity"
        case .intakePaused: "the intake is paused"
        case .internal: "the service failed; the journal has the error"
        case .malformedField: "a field has a value that is not allowed"
        case .malformedHTTP: "this is not acceptable HTTP/1.1"
        case .malformedIDToken: "the id token cannot be read"
        case .malformedIdempotencyKey: "the idempotency key is not 1 to 255 visible characters"
        case .malformedJSON: "the body is not acceptable JSON"
        case .malformedOption: "an option has a value that is not allowed"
        case .malformedQuery: "the query is not acceptable"
        case .malformedUserID: "the user id is not acceptable"
        case .methodNotAllowed: "the path exists, but not with this method"
        case .mailOff: "the service sends no mail"
        case .messageNotFound: "no such message"
        case .missingField: "a field is missing"
        case .missingSecret: "the credential has no secret"
        case .notificationNotFound: "no notification has this code"
        case .notificationsOff: "the service accepts no notifications of this provider"
        case .freshSignInRequired: "the user must sign in again before a deletion"
        case .operatorUnknown: "the person behind the connection is unknown"
        case .planChanged: "the plan is not the last one"
        case .planRefused: "a target has something that forbids a plan"
        case .reauthorizationRefused: "the sign-in was not accepted"
        case .requestNotFound: "no such request"
        case .requestTimeout: "the request did not arrive in time"
        case .routeNotFound: "no such path"
        case .sameOperator: "the submitter, or who approved before, cannot approve"
        case .subjectMismatch: "the sign-in belongs to another user"
        case .suggestionRefused: "no rules can be written for the target"
        case .tooLate: "the purge, or another irreversible step, has begun"
        case .tooManyConnections: "too many connections"
        case .tooManyCredentials: "the identity holds as many credentials as it may"
        case .unavailable: "the service cannot answer now"
        case .unknownClientID: "no such client id at this provider"
        case .unknownCredentialKind: "no such kind of credential"
        case .unknownField: "a field is not known"
        case .unknownKind: "no such kind of request"
        case .unknownOption: "an option is not known"
        case .unknownProvider: "no such provider"
        case .unknownTarget: "no such target"
        case .unsupportedMediaType: "the body must be application/json"
        case .vaultSealed: "the vault is sealed"
        case .wrongState: "the request is not in a state for this"
        }
    }
}
