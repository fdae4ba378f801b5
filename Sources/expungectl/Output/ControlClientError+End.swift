import Control
import ControlClient

extension ControlClientError {
    /// How the program ends because of it.
    var endCode: EndCode {
        switch kind {
        case .unreachable, .permissionDenied: .unreachable
        case .timedOut, .malformedAnswer, .interrupted: .failure
        case .refused(let problem):
            switch problem.status {
            case 404: .notFound
            case 409: .conflict
            default: .failure
            }
        }
    }

    /// What to do about it, if that is known.
    var hint: String? {
        switch kind {
        case .unreachable: "is expunged running? see: systemctl status expunged"
        case .permissionDenied: "join the group expunged-operator, or use sudo"
        case .timedOut, .interrupted: "see: journalctl -u expunged"
        case .malformedAnswer: "is this socket expunged's, and is expungectl of the same version?"
        case .refused(let problem): problem.code.known.flatMap(Self.hint)
        }
    }

    private static func hint(_ code: ControlProblem.Code) -> String? {
        switch code {
        case .alreadyErased: "without account_created_at, the request is for the present account"
        case .alreadyOpen: "find it with: expungectl list --user USER"
        case .requestNotFound: "find requests with: expungectl list"
        case .identityNotFound: "find identities with: expungectl identities USER"
        case .notificationsOff: "set the key notifications of the provider; see expunged.conf(5)"
        case .holdNotFound: "find holds on targets with: expungectl holds; others: show ID"
        case .filterRefused: "see the rules with: expungectl targets check NAME"
        case .unknownProvider: "find providers with: expungectl providers"
        case .unknownTarget: "find targets with: expungectl targets"
        case .forbidden: "use the operators' socket: --socket /run/expunged/control.sock"
        case .idempotencyConflict: "use a new --idempotency-key for a different request"
        case .clientIDRequired: "name it with --client-id"
        case .configurationInvalid: "check the file with: expunged --check-config"
        case .intakePaused: "start it with: expungectl intake resume"
        case .vaultSealed: "provide the vault key and restart expunged; see expunged(8)"
        case .tooLate: "see what was done with: expungectl show ID"
        case .wrongState: "see its state with: expungectl show ID"
        case .planChanged: "read the difference with: expungectl plan --request ID"
        case .sameOperator: "another person must approve it, from a login of their own"
        case .operatorUnknown: "install the drop-in expunged-approval.conf; see expunged.conf(5)"
        case .internal: "see: journalctl -u expunged"
        case .tooManyConnections, .unavailable: "try again in some seconds"
        case .bodyTooLarge, .deletionInProgress, .headersTooLarge, .malformedField,
            .malformedHTTP, .malformedIDToken, .malformedIdempotencyKey, .malformedJSON,
            .malformedOption, .malformedQuery, .malformedUserID, .methodNotAllowed,
            .missingField, .missingSecret, .notificationNotFound, .freshSignInRequired,
            .reauthorizationRefused,
            .requestTimeout,
            .routeNotFound, .subjectMismatch, .tooManyCredentials, .unknownClientID,
            .unknownCredentialKind, .unknownField, .unknownKind, .unknownOption,
            .unsupportedMediaType:
            nil
        }
    }
}
