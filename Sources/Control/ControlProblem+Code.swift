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
        case unknownStore = "unknown_store"
        case unsupportedMediaType = "unsupported_media_type"
        case vaultSealed = "vault_sealed"
        case wrongState = "wrong_state"
    }
}

extension ControlProblem.Code {
    /// The HTTP status that goes with it (RFC 9110 §15).
    package var status: Int { meaning.status }

    /// The fixed `title` (RFC 9457 §3.1.3): the same for every occurrence.
    package var title: String { meaning.title }

    private var meaning: (status: Int, title: String) {
        switch self {
        case .alreadyErased: (409, "this account is already erased; a later account has its id")
        case .alreadyOpen: (409, "the user has an open deletion with other options")
        case .bodyTooLarge: (413, "the body is too large")
        case .clientIDRequired: (400, "the provider has several client ids and none was named")
        case .configurationInvalid: (422, "the configuration has problems; the running one stays")
        case .deletionInProgress: (409, "the user is being deleted")
        case .filterRefused: (422, "the store cannot keep such rows")
        case .forbidden: (403, "this socket's role does not allow it")
        case .headersTooLarge: (431, "the header fields are too large or too many")
        case .holdNotFound: (404, "no such hold")
        case .idempotencyConflict: (409, "the idempotency key belongs to a different request")
        case .identityNotFound: (404, "no such identity")
        case .intakePaused: (503, "the intake is paused")
        case .internal: (500, "the service failed; the journal has the error")
        case .malformedField: (400, "a field has a value that is not allowed")
        case .malformedHTTP: (400, "this is not acceptable HTTP/1.1")
        case .malformedIDToken: (400, "the id token cannot be read")
        case .malformedIdempotencyKey:
            (400, "the idempotency key is not 1 to 255 visible characters")
        case .malformedJSON: (400, "the body is not acceptable JSON")
        case .malformedOption: (400, "an option has a value that is not allowed")
        case .malformedQuery: (400, "the query is not acceptable")
        case .malformedUserID: (400, "the user id is not acceptable")
        case .methodNotAllowed: (405, "the path exists, but not with this method")
        case .mailOff: (409, "the service sends no mail")
        case .messageNotFound: (404, "no such message")
        case .missingField: (400, "a field is missing")
        case .missingSecret: (400, "the credential has no secret")
        case .notificationNotFound: (404, "no notification has this code")
        case .notificationsOff: (409, "the service accepts no notifications of this provider")
        case .freshSignInRequired: (403, "the user must sign in again before a deletion")
        case .operatorUnknown: (403, "the person behind the connection is unknown")
        case .planChanged: (409, "the plan is not the last one")
        case .planRefused: (422, "a store has something that forbids a plan")
        case .reauthorizationRefused: (422, "the sign-in was not accepted")
        case .requestNotFound: (404, "no such request")
        case .requestTimeout: (408, "the request did not arrive in time")
        case .routeNotFound: (404, "no such path")
        case .sameOperator: (409, "the submitter, or who approved before, cannot approve")
        case .subjectMismatch: (409, "the sign-in belongs to another user")
        case .suggestionRefused: (422, "no rules can be written for the store")
        case .tooLate: (409, "the purge, or another irreversible step, has begun")
        case .tooManyConnections: (503, "too many connections")
        case .tooManyCredentials: (409, "the identity holds as many credentials as it may")
        case .unavailable: (503, "the service cannot answer now")
        case .unknownClientID: (400, "no such client id at this provider")
        case .unknownCredentialKind: (400, "no such kind of credential")
        case .unknownField: (400, "a field is not known")
        case .unknownKind: (400, "no such kind of request")
        case .unknownOption: (400, "an option is not known")
        case .unknownProvider: (404, "no such provider")
        case .unknownStore: (404, "no such store")
        case .unsupportedMediaType: (415, "the body must be application/json")
        case .vaultSealed: (503, "the vault is sealed")
        case .wrongState: (409, "the request is not in a state for this")
        }
    }
}
