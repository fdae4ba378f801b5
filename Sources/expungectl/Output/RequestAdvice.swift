import Control
import Lifecycle

/// Why a request is where it is, what lets it go on, and what became known of it.
struct RequestAdvice {
    private let request: WireRequest

    init(_ request: WireRequest) { self.request = request }

    /// What the request waits for, and what an operator can do.
    var lines: [String] {
        scheduled + parked + returned + accounts + failedCodes + held + failing { $0 }
    }

    /// The same for a person who waits for the end: it changes only with what the request waits
    /// for.
    var reasons: [String] {
        guard request.state != .known(.scheduled) else {
            let time = request.nextAt.map(LocalTime.full) ?? "later"
            return ["begins: \(time), after the grace period"]
        }
        return accounts + failedCodes + held + failing { _ in nil }
    }

    /// Tokens that the service does not hold, identities that it forgot, and later knowledge.
    var knownLater: [String] { notHeld + unread + forgotten + addenda }

    private var scheduled: [String] {
        guard request.state == .known(.scheduled), let time = request.nextAt else { return [] }
        return [
            "begins: \(LocalTime.distant(time)), after the grace period",
            "until then: expungectl cancel \(request.id) stops it",
        ]
    }

    private var returned: [String] {
        let advice = "erase it: expungectl replay --since TIME; then recheck: expungectl retry"
        return request.detail == "data_returned" ? ["\(advice) \(request.id)"] : []
    }

    private var parked: [String] {
        guard request.state == .known(.parked),
            let reason = request.detail.flatMap(ParkReason.init(rawValue:))
        else { return [] }
        return [
            "waits for: \(text(reason, request.id))",
            "waits since: \(LocalTime.distant(request.updatedAt))",
        ]
    }

    private var unknownProviders: String {
        let steps = request.steps.filter { $0.lastError == ParkReason.unknownProvider.rawValue }
        return Set(steps.compactMap(\.provider)).sorted().joined(separator: ", ")
    }

    /// Where the user has several accounts of a client, each waits for its own.
    private var accounts: [String] {
        request.identities.filter { own in
            own.verdict == nil && own.userAction != nil
                && request.identities.count {
                    $0.provider == own.provider && $0.clientID == own.clientID
                } > 1
        }.map { "account: \($0.provider): \($0.identityID) waits for a sign-in to its own account" }
    }

    private var failedCodes: [String] {
        request.identities.compactMap { identity in
            identity.failedCode.map { code in
                let name = identity.provider
                let answer = code.answer.map { "; \(name) answered \($0.text)" } ?? ""
                return "code: \(name): that of \(LocalTime.full(code.createdAt))"
                    + " \(Self.text(code))\(answer); let the user sign in again for a new one"
            }
        }
    }

    private static func text(_ code: WireFailedCode) -> String {
        switch code.outcome.known {
        case .expired where code.failures > 0:
            "expired: its exchange was tried \(code.failures) time(s) without success"
        case .expired:
            "expired before its exchange: it came late, or the service, the provider or the vault"
                + " was stopped"
        case .refused where isNamed(code.error): "was refused by the provider"
        case .refused:
            "was refused by the provider: it had expired there, was used before, or was issued to"
                + " another redirect_uri"
        case .unknown where code.answer != nil: "was sent, brought no tokens, and works only once"
        case .unknown: "was sent, got no answer, and works only once"
        case nil: "\(code.outcome)"
        }
    }

    /// Whether a vendor's code says what is wrong: `invalid_grant` (RFC 6749 §5.2) does not, nor
    /// does a number.
    private static func isNamed(_ error: String?) -> Bool {
        error.map { $0 != "invalid_grant" && $0.contains(where: \.isLetter) } ?? false
    }

    private func text(_ reason: ParkReason, _ id: RequestID) -> String {
        switch reason {
        case .needsReauthentication:
            "a fresh sign-in of the user; or: expungectl abandon \(id) --reason TEXT. At the time"
                + " next, if shown, it tries again what was given up, or goes on by itself, and the"
                + " receipt says NOT revoked"
        case .providerPaused: "a provider that is paused; see: expungectl providers"
        case .unknownProvider:
            "a provider that the configuration lacks (\(unknownProviders)): put its section back,"
                + " then: expungectl reload; or: expungectl abandon \(id) --reason TEXT"
        case .storePaused: "a store that is paused; see: expungectl stores"
        case .vaultSealed: "the vault key; see: expungectl vault"
        case .onHold where request.heldBy == nil:
            "the end of a hold that only operators see; or the state is old or damaged: expungectl"
                + " ledger verify; to go on with it: expungectl ledger accept-rollback"
        case .onHold: "the end of a hold, see below"
        case .awaitingApproval:
            (request.steps.contains { $0.verdict == WireStep.halfApproved }
                ? "an approval, given by 1 of 2 operators" : "an approval")
                + "; see: expungectl plan --request \(id)"
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
        (request.heldBy ?? []).map { hold in
            let reason = hold.reason.map { ": \($0)" } ?? ""
            let text =
                switch (hold.name, hold.store) {
                case (nil, _): "request" + reason
                case (let name?, nil): "user \(name)" + reason
                case (let name?, let store?): "store \(store): \(name)"
                }
            let command = hold.name.map { "--hold \($0)" } ?? "\(request.id)"
            return "held by: \(text); release with: expungectl release \(command)"
        }
    }

    /// What keeps steps from their end, with the time of the next try where `shown` returns one.
    private func failing(at shown: (WallTime?) -> WallTime?) -> [String] {
        var lines: [String] = []
        for step in request.steps {
            guard let (name, noun) = Self.place(of: step) else { continue }
            guard let error = step.lastError else {
                if let answer = step.answer?.answer, !Self.isOver(step) {
                    lines.append("\(name): answered \(answer.text)")
                }
                continue
            }
            let next = shown(step.retryAt).map { ", again \(LocalTime.distant($0))" } ?? ""
            let found: [String]
            if request.blockedBy?.contains(WireBlock(store: name, error: error)) == true {
                let obstacle = step.obstacle.map { ": \($0)" } ?? ""
                let kind = Obstacle.Kind(rawValue: error)
                let remedy = kind.map(Self.remedy) ?? "see expungectl stores check \(name)"
                var end = kind == .locked ? "" : "; then: expungectl retry \(request.id)"
                if kind == .spelling {
                    end +=
                        "; or submit the id as the column has it, then: expungectl abandon"
                        + " \(request.id) --reason TEXT"
                }
                found = [
                    "blocked by: \(name)\(obstacle) (\(error))\(next)",
                    "to mend it: \(remedy)\(end)",
                ]
            } else if step.obstacle == nil, ParkReason(rawValue: error) == nil, !Self.isOver(step) {
                let cause = "\(name): \(error)\(next)"
                let known = step.answer.map { $0.answer.added(to: cause) } ?? cause
                found = ["\(known); \(help(step, error, noun, name))"]
            } else {
                continue
            }
            lines += found.filter { !lines.contains($0) }
        }
        return lines
    }

    /// How to go on where a step fails, and no store names what stands in the way.
    private func help(_ step: WireStep, _ error: String, _ noun: String, _ name: String) -> String {
        if error.hasPrefix("client_not_configured") {
            return "put the client id back into client_ids, then: expungectl reload; or: expungectl"
                + " abandon \(request.id) --reason TEXT"
        }
        if step.state == .known(.parked), step.retryAt != nil {
            return "given up; to try at once: expungectl retry \(request.id)"
        }
        // With the answer there is nothing more to be found out by a check.
        return step.answer != nil || error.contains(": ")
            ? "see since when and how many wait with: expungectl \(noun)"
            : "see the cause with: expungectl \(noun) check \(name)"
    }

    /// A step that is being tried again says how it failed before.
    private static func isOver(_ step: WireStep) -> Bool {
        [.known(.done), .known(.skipped)].contains(step.state)
    }

    private static func place(of step: WireStep) -> (name: String, noun: String)? {
        if let store = step.store { return (store, "stores") }
        return step.provider.map { ($0, "providers") }
    }

    private static func remedy(_ kind: Obstacle.Kind) -> String {
        switch kind {
        case .foreignKey:
            "add a rule for the table that refers to these rows, before theirs; or set the key to"
                + " ON DELETE CASCADE or SET NULL"
        case .trigger: "change the trigger, or remove what it protects"
        case .constraint: "choose another strategy for the column, which violates the constraint"
        case .permission: "grant the permission; if a file is immutable: chattr -i FILE"
        case .spelling: "correct those rows"
        case .size: "delete or shorten the value"
        case .future: "correct the clock of the machine, or the dates of those rows"
        case .remaining: "stop the trigger or program that writes the rows again"
        case .locked: "end the transaction that has locked them; the request continues within 30 s"
        }
    }

    private var notHeld: [String] {
        request.identities.flatMap { identity -> [String] in
            guard let unheld = identity.unheld else { return [] }
            let (codes, refused) = (unheld.lostCodes, unheld.refusedCredentials)
            let lines = [
                (codes, "have issued tokens for \(codes) code(s) whose exchange brought no tokens"),
                (refused, "honor credentials that the service refused \(refused) time(s)"),
            ]
            return lines.filter { $0.0 > 0 }.map { "not held: \(identity.provider) may \($0.1)" }
        }
    }

    private var unread: [String] {
        guard let names = request.unreadSources else { return [] }
        return [
            "not read: \(names.joined(separator: ", ")); if that stays so to the end, submit the"
                + " request again later, as a credential of the user may be there"
        ]
    }

    private var forgotten: [String] {
        (request.forgotten ?? []).map {
            "forgotten: \($0.provider), by uid \($0.uid) at \($0.at.rfc3339); not revoked"
        }
    }

    private var addenda: [String] {
        (request.addenda ?? []).map { addendum in
            "known since \(addendum.at.rfc3339): \(addendum.provider) \(addendum.verdict)"
                + " (\(addendum.event)): \(addendum.evidence)"
        }
    }
}
