import Control
import Lifecycle
import Testing

@testable import expungectl

extension ControlSuite {
    /// What an operator reads of a code that brought no tokens.
    @Suite struct RequestAdviceTests {
        @Test(
            arguments: [
                (.unknown, nil, "was sent, got no answer, and works only once"),
                (
                    .unknown, Refusal(status: 500),
                    "was sent, brought no tokens, and works only once; apple answered 500"
                ),
                (
                    .expired, Refusal(status: 429, error: "slow_down"),
                    "expired: its exchange was tried 2 time(s) without success; apple answered"
                        + " 429 slow_down"
                ),
                (
                    .refused, Refusal(status: 400, error: "redirect_uri_mismatch"),
                    "was refused by the provider; apple answered 400 redirect_uri_mismatch"
                ),
                (
                    .refused, Refusal(status: 400, error: "invalid_grant"),
                    "was used before, or was issued to another redirect_uri; apple answered"
                        + " 400 invalid_grant"
                ),
                (
                    .unknown, Refusal(status: nil, error: "busy"),
                    "was sent, brought no tokens, and works only once; apple answered busy"
                ),
            ] as [(CodeOutcome, Refusal?, String)]
        )
        func `a failed code names who answered, and what to do`(
            outcome: CodeOutcome,
            answer: Refusal?,
            text: String
        ) {
            var identity = WireIdentity(
                identityID: Samples.identityID,
                provider: "apple",
                state: .dead
            )
            identity.failedCode = WireFailedCode(
                createdAt: Samples.time,
                outcome: outcome,
                failures: 2
            )
            identity.failedCode?.status = answer?.status
            identity.failedCode?.error = answer?.error
            var request = Samples.request(.parked)
            request.identities = [identity]
            let lines = RequestAdvice(request).lines
            let end = "\(text); let the user sign in again for a new one"
            #expect(lines.count == 1 && lines[0].hasSuffix(end), "\(lines)")
        }

        @Test(
            arguments: [
                (
                    "client_not_configured: 'com.example.old'", .retrying,
                    "put the client id back into client_ids, then: expungectl reload; or:"
                        + " expungectl abandon \(Samples.requestID) --reason TEXT"
                ),
                (
                    "refused: 400 invalid_token", .parked,
                    "given up; to try at once: expungectl retry \(Samples.requestID)"
                ),
                (
                    "refused: 400 invalid_token", .retrying,
                    "see since when and how many wait with: expungectl providers"
                ),
            ] as [(String, StepState, String)]
        )
        func `a revocation that fails says what to do`(
            error: String,
            state: StepState,
            end: String
        ) {
            var step = WireStep(name: "revoke apple", kind: .revoke, state: state, attempts: 5)
            step.provider = "apple"
            step.lastError = error
            step.retryAt = Samples.time
            var request = Samples.request(.parked)
            request.steps = [step]
            let line = RequestAdvice(request).lines.joined(separator: "\n")
            #expect(line.hasPrefix("apple: \(error), again ") && line.hasSuffix("; \(end)"))
        }

        @Test(
            arguments: [
                (WireRequestHold(reason: "case: 7"), "request: case: 7", "\(Samples.requestID)"),
                (WireRequestHold(name: "user.AAE"), "user user.AAE", "--hold user.AAE"),
                (
                    WireRequestHold(name: "user.AAE", reason: "case: 7"), "user user.AAE: case: 7",
                    "--hold user.AAE"
                ),
                (
                    WireRequestHold(name: "case-7", store: "app-db"), "store app-db: case-7",
                    "--hold case-7"
                ),
            ]
        )
        func `each hold is shown with the command that releases it`(
            hold: WireRequestHold,
            held: String,
            end: String
        ) {
            var request = Samples.request(.parked, detail: "on_hold")
            request.heldBy = [hold]
            let line = "held by: \(held); release with: expungectl release \(end)"
            let lines = RequestAdvice(request).lines
            #expect(lines.contains(line))
            #expect(lines.first == "waits for: the end of a hold, see below")
        }

        @Test func `without a hold the ledger may stop it, and its commands are named`() {
            let lines = RequestAdvice(Samples.request(.parked, detail: "on_hold")).lines
            #expect(lines.first?.contains("expungectl ledger verify; ") == true)
            #expect(lines.first?.hasSuffix("expungectl ledger accept-rollback") == true)
        }

        @Test(arguments: ParkReason.allCases)
        func `no hint of show leads back to it`(reason: ParkReason) {
            var step = WireStep(name: "purge app-db", kind: .purge, state: .parked, attempts: 1)
            step.store = "app-db"
            var request = Samples.request(.parked, detail: reason.rawValue)
            for error in [reason.rawValue] + Obstacle.Kind.allCases.map(\.rawValue) {
                step.lastError = error
                request.steps = [step]
                request.heldBy = request.heldBy == nil ? [WireRequestHold(reason: "case: 7")] : nil
                request.blockedBy = [WireBlock(store: "app-db", error: error)]
                let lines = RequestAdvice(request).lines
                #expect(!lines.contains { $0.contains("expungectl show") }, "\(lines)")
            }
        }

        @Test(
            arguments: [
                ("awaiting_approval", "an approval; see"),
                ("approved_1_of_2", "an approval, given by 1 of 2 operators; see"),
            ]
        )
        func `a request that waits for the second approval says so`(verdict: String, text: String) {
            var step = WireStep(name: "plan", kind: .plan, state: .done, attempts: 1)
            step.verdict = verdict
            var request = Samples.request(.parked, detail: "awaiting_approval")
            request.steps = [step]
            let first = RequestAdvice(request).lines.first
            #expect(first?.hasPrefix("waits for: \(text)") == true)
        }

        @Test func `a provider that the configuration lacks is named, with both ways out`() {
            var step = WireStep(name: "revoke github", kind: .revoke, state: .parked)
            step.provider = "github"
            step.lastError = "unknown_provider"
            var request = Samples.request(.parked, detail: "unknown_provider")
            request.steps = [step]
            let lines = RequestAdvice(request).lines
            let end = "expungectl reload; or: expungectl abandon \(Samples.requestID) --reason TEXT"
            #expect(lines.first?.contains("lacks (github): put its section back") == true)
            #expect(lines.first?.hasSuffix(end) == true && lines.count == 2, "\(lines)")
        }

        @Test func `data that is back is to be erased and then rechecked`() {
            let lines = RequestAdvice(Samples.request(.completed, detail: "data_returned")).lines
            let end = "then recheck: expungectl retry \(Samples.requestID)"
            #expect(lines.count == 1 && lines[0].hasSuffix(end), "\(lines)")
        }

        @Test func `of several accounts each waits for a sign-in of its own`() {
            var (first, second) = (Samples.identity, Samples.identity)
            second.identityID = IdentityID(TimeOrderedID(high: 0x0190_0000_0000_7003, low: 1 << 63))
            var request = Samples.request(.parked, detail: "needs_reauthentication")
            func lines() -> [String] {
                RequestAdvice(request).lines.filter { $0.hasPrefix("account: ") }
            }
            first.verdict = nil
            request.identities = [first]
            #expect(lines().isEmpty)
            request.identities = [first, second]
            let end = "waits for a sign-in to its own account"
            #expect(lines() == ["account: apple: \(first.identityID) \(end)"])
        }
    }
}
