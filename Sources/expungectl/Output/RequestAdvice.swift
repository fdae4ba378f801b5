import Control
import Lifecycle

/// Why a request is where it is, what lets it go on, and what became known of it.
struct RequestAdvice {
    private let request: WireRequest

    init(_ request: WireRequest) { self.request = request }

    /// What the request waits for, and what an operator can do.
    var lines: [String] { scheduled + parked + failedCodes + held + failing }

    /// Tokens that the service does not hold, identities that it forgot, and later knowledge.
    var knownLater: [String] { notHeld + forgotten + addenda }

    private var scheduled: [String] {
        guard request.state == .known(.scheduled), let time = request.nextAt else { return [] }
        return [
            "begins: \(LocalTime.distant(time)), after the grace period",
            "until then: expungectl cancel \(request.id) stops it",
        ]
    }

    private var parked: [String] {
        guard request.state == .known(.parked),
            let reason = request.detail.flatMap(ParkReason.init(rawValue:))
        else { return [] }
        return [
            "waits for: \(Self.text(reason, request.id))",
            "waits since: \(LocalTime.distant(request.updatedAt))",
        ]
    }

    private var failedCodes: [String] {
        request.identities.compactMap { identity in
            identity.failedCode.map { code in
                "code: \(identity.provider): that of \(LocalTime.full(code.createdAt))"
                    + " \(Self.text(code)); a new sign-in brings another"
            }
        }
    }

    private static func text(_ code: WireFailedCode) -> String {
        switch code.outcome.known {
        case .expired where code.failures > 0:
            "expired: \(code.failures) exchange(s) did not reach the provider"
        case .expired:
            "expired before its exchange: it came late, or the service, the provider or the vault"
                + " was stopped"
        case .refused: "was refused by the provider: it had expired there, or was used before"
        case .unknown: "was sent, but the provider did not answer: a code works only once"
        case nil: "\(code.outcome)"
        }
    }

    private static func text(_ reason: ParkReason, _ id: RequestID) -> String {
        switch reason {
        case .needsReauthentication:
            "a fresh sign-in of the user; or: expungectl abandon \(id) --reason TEXT. At the time"
                + " next, if shown, it goes on by itself, and the receipt says NOT revoked"
        case .providerPaused: "a provider that is paused; see: expungectl providers"
        case .targetPaused: "a store that is paused; see: expungectl targets"
        case .vaultSealed: "the vault key; see: expungectl vault"
        case .onHold: "the end of a hold; see: expungectl holds"
        case .awaitingApproval: "an approval; see: expungectl plan --request \(id)"
        case .massDeletionGuard: "the mass-deletion guard; see: expungectl status"
        case .sharedIdentity:
            "a decision, since another user has the same account at the provider; see"
                + " expungectl identities USER"
        case .quarantined: "a decision, since it crashed the service; expungectl retry \(id)"
        case .awaitingSpool: "a read of the spool; see: expungectl status"
        case .awaitingCredentials: "a credential in the spool that cannot be sealed"
        case .clockBehind: "the clock, which is behind the ledger"
        case .withoutKeys:
            "a key into a store: put back the row that names it, dated before the request; then:"
                + " expungectl retry \(id); without that store: expungectl abandon \(id)"
                + " --reason TEXT"
        }
    }

    /// Which command lifts each hold.
    private var held: [String] {
        (request.heldBy ?? []).map { name in
            let command =
                switch name {
                case "request": "\(request.id)"
                case "user": "--user USER"
                default: "--hold \(name.split(separator: ": ").last ?? "")"
                }
            return "held by: \(name); release with: expungectl release \(command)"
        }
    }

    /// Where to look for the cause of what is tried again and names none.
    private var failing: [String] {
        var lines: [String] = []
        for step in request.steps where step.obstacle == nil && step.retryAt != nil {
            guard let error = step.lastError else { continue }
            let place =
                step.target.map { ($0, "targets") } ?? step.provider.map { ($0, "providers") }
            guard let (name, noun) = place else { continue }
            let next = step.retryAt.map { ", again \(LocalTime.distant($0))" } ?? ""
            let line =
                "\(name): \(error)\(next); see the cause with: expungectl \(noun) check \(name)"
            if !lines.contains(line) { lines.append(line) }
        }
        return lines
    }

    private var notHeld: [String] {
        request.identities.flatMap { identity -> [String] in
            guard let unheld = identity.unheld else { return [] }
            var lines: [String] = []
            if unheld.lostCodes > 0 {
                lines.append(
                    "not held: \(identity.provider) may have issued tokens for"
                        + " \(unheld.lostCodes) code(s) whose exchange brought no answer"
                )
            }
            if unheld.refusedCredentials > 0 {
                lines.append(
                    "not held: \(identity.provider) may honor credentials that the service"
                        + " refused \(unheld.refusedCredentials) time(s)"
                )
            }
            return lines
        }
    }

    private var forgotten: [String] {
        (request.forgotten ?? []).map { identity in
            "forgotten: \(identity.provider), by uid \(identity.uid) at \(identity.at.rfc3339);"
                + " not revoked"
        }
    }

    private var addenda: [String] {
        (request.addenda ?? []).map { addendum in
            "known since \(addendum.at.rfc3339): \(addendum.provider) \(addendum.verdict)"
                + " (\(addendum.event)): \(addendum.evidence)"
        }
    }
}
