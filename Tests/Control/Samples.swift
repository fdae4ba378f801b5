import Control
import Lifecycle

/// Wire values with every field filled, as the fake backend answers them.
enum Samples {
    static let requestID = RequestID(
        TimeOrderedID(high: 0x0190_0000_0000_7001, low: 0x8000_0000_0000_0001)
    )
    static let identityID = IdentityID(
        TimeOrderedID(high: 0x0190_0000_0000_7002, low: 0x8000_0000_0000_0002)
    )
    static let time = WallTime(unixMilliseconds: 1_795_248_000_000)

    static let answer = VendorAnswer(
        Refusal(status: 400, error: "invalid_grant"),
        words: "Token revoked by the vendor."
    )

    static var identity: WireIdentity {
        var identity = WireIdentity(identityID: identityID, provider: "apple", state: .live)
        identity.clientID = "com.example.app"
        identity.verdict = .known(.proven)
        identity.credentialCount = 1
        identity.isSubjectFirstSeen = true
        identity.userAction = WireUserAction(
            url: "https://example.com/unlink",
            text: "unlink \"it\"",
            isConfigured: true
        )
        identity.unheld = WireUnheld(lostCodes: 1, refusedCredentials: 2)
        identity.failedCode = WireFailedCode(createdAt: time, outcome: .expired, failures: 3)
        identity.failedCode?.status = answer.refusal.status
        identity.failedCode?.error = answer.refusal.error
        identity.updatedAt = time
        return identity
    }

    static let heldRows = RowFilter(
        table: "orders",
        conditions: [RowFilter.Condition(column: "status", values: ["disputed", "open"])]
    )
    static let hold = WireHold(
        StoreHold(
            name: "case-7",
            store: StoreName("app-db"),
            rows: heldRows,
            reason: "case 7",
            since: time,
            uid: 1000
        )
    )

    static let userHold = WireHold(userHash: [0, 1], reason: nil, since: time, uid: 1001)

    static let message: WireMessage = {
        var message = WireMessage(
            id: MessageID(sequence: 12, nonce: "0123456789abcdef"),
            subscriber: "app",
            type: "request.completed",
            occurredAt: time,
            state: .waiting,
            attempts: 2
        )
        message.requestID = requestID
        message.attemptedAt = time
        message.nextAttemptAt = time
        message.httpStatus = 503
        message.error = "refused"
        return message
    }()

    static let overview: RequestOverview = {
        var open = OpenOverview()
        open.groups = [
            OpenOverview.Group(
                state: .revoking,
                reason: nil,
                counts: [3, 2, 1, 0, 0],
                oldest: requestID,
                oldestAt: time - .seconds(200_000)
            ),
            OpenOverview.Group(
                state: .parked,
                reason: .needsReauthentication,
                counts: [0, 0, 0, 4, 5],
                oldest: requestID,
                oldestAt: time - .seconds(40 * 86_400)
            ),
        ]
        (open.overdue, open.near) = (1, 2)
        open.deadlines = [
            OpenOverview.Deadline(
                request: requestID,
                at: time - .seconds(7200),
                state: .parked,
                reason: .needsReauthentication
            ),
            OpenOverview.Deadline(
                request: requestID,
                at: time + .seconds(3 * 86_400),
                state: .revoking,
                reason: nil
            ),
        ]
        return RequestOverview(
            at: time,
            open: open,
            report: report(of: CalendarMonth(of: time, in: .utc), in: "UTC")
        )
    }()

    static let notification = WireNotification(
        status: 400,
        contentType: "application/json",
        body: "{}",
        effect: .refused,
        reason: "bad_signature",
        requestID: requestID
    )

    static let notificationStatus = WireNotificationStatus(
        confirmationCode: "c0de",
        state: .completed,
        text: "Your account and its data were deleted.",
        receivedAt: time,
        completedAt: time
    )

    static var step: WireStep {
        var step = WireStep(name: "revoke apple", kind: .revoke, state: .done, attempts: 2)
        step.provider = "apple"
        step.store = "app-db"
        step.verdict = "proven"
        step.lastError = "unreachable"
        step.answer = WireAnswer(answer)
        step.obstacle = "foreign key 'posts_author' of 'posts'"
        step.startedAt = time
        step.endedAt = time + .seconds(1)
        step.durationMilliseconds = 1000
        step.retryAt = time
        return step
    }

    static func request(_ state: RequestState = .accepted, detail: String? = nil) -> WireRequest {
        var request = WireRequest(
            id: requestID,
            kind: .deleteAccount,
            userID: "alice",
            state: state,
            createdAt: time
        )
        request.detail = detail
        return request
    }

    static var fullRequest: WireRequest {
        var request = request(.parked, detail: "needs_reauthentication")
        request.heldBy = [
            WireRequestHold(), WireRequestHold(name: "user.AAE", reason: "case 7"),
            WireRequestHold(name: "case-7", store: "app-db"),
        ]
        request.blockedBy = [WireBlock(store: "app-db", error: "blocked_by_foreign_key")]
        request.acceptedAt = time
        request.deadlineAt = time + .seconds(2_592_000)
        request.identities = [identity]
        request.nextAt = time + .seconds(60)
        request.steps = [step]
        request.unreadSources = ["queue app", "spool"]
        request.forgotten = [
            ForgottenIdentity(provider: ProviderName("google"), at: time, uid: 1000)
        ]
        request.addenda = [
            WireAddendum(
                at: time,
                identityID: identityID,
                provider: "apple",
                verdict: .proven,
                event: "consent-revoked",
                occurredAt: time,
                evidence: "The provider sent a notification that the link was cut."
            )
        ]
        return request
    }

    static var replayOrder: ReplayTerms {
        var order = ReplayTerms(since: time, store: StoreName("app-db"))
        order.id = "r-1"
        return order
    }

    static var replay: WireReplay {
        var store = StoreReport(name: StoreName("app-db"))
        store.found = 3
        store.erased = 2
        store.rows = 40
        store.error = "remaining_rows"
        store.newer = 1
        store.detail = "why"
        var replay = WireReplay(state: .incomplete)
        replay.since = time
        replay.id = "r-1"
        replay.tombstones = 7
        replay.reopened = 2
        replay.stores = [store]
        return replay
    }

    static var dryRun: WirePlan {
        let link = PurgePlan.Link(
            identity: identityID,
            provider: ProviderName("apple"),
            clientID: "com.example.app"
        )
        let posts = PlanItem(
            name: "posts",
            action: .delete,
            count: 12,
            isBounded: true,
            undatedCount: 2
        )
        let bills = PlanItem(name: "bills", action: .keep, reason: "tax", count: 3, newerCount: 1)
        let likes = PlanItem(name: "likes", action: .delete, count: 4, hasNoTimestamps: true)
        let orders = PlanItem(name: "orders", action: .anonymize, reason: "tax", count: 2)
        let parts = [
            PurgePlan.Part(
                store: StoreName("app-db"),
                items: [posts, bills, likes, orders],
                rules: [rule("delete")] + masks
            ),
            PurgePlan.Part(store: StoreName("cache"), items: nil),
        ]
        let plan = PurgePlan(links: [link], parts: parts, hash: "0123456789abcdef")
        return WirePlan(plan, state: .notRequired)
    }

    static var plan: WirePlan {
        var plan = dryRun
        plan.state = .known(.approved)
        plan.requestID = requestID
        plan.approvedAt = time
        plan.approvedBy = 1001
        plan.approvalsRequired = 2
        plan.firstApprovedBy = 1002
        func shown(_ count: Int) -> PurgePlan {
            let item = PlanItem(name: "posts", action: .delete, count: count)
            let part = PurgePlan.Part(
                store: StoreName("app-db"),
                items: [item],
                rules: [rule(count == 12 ? "delete" : "keep")]
            )
            return PurgePlan(links: [], parts: [part], hash: "")
        }
        plan.changes = shown(12).changes(since: shown(11)).map(WirePlanChange.init)
        return plan
    }

    private static func rule(_ action: String) -> PurgePlan.Rule {
        PurgePlan.Rule(key: "table posts (author_id)", value: "action = \"\(action)\"")
    }

    private static let masks = [
        PurgePlan.Rule(key: "table shop.Orders (buyer)", value: "action = \"anonymize\""),
        PurgePlan.Rule(key: "table shop.Orders (buyer) set name", value: "strategy = \"null\""),
        PurgePlan.Rule(
            key: "table shop.Orders (buyer) set zip",
            value: "strategy = \"truncate\", length = 2"
        ),
    ]

    static var ledger: WireLedger {
        var ledger = WireLedger(key: "expunged-01234567+89abcdef+AQ==", state: .sound, entries: 12)
        ledger.covered = 10
        ledger.checkpoint = "expunged-01234567\n10\n"
        ledger.checkpointAt = time
        return ledger
    }

    static var damagedLedger: WireLedger {
        var ledger = WireLedger(key: "expunged-01234567+89abcdef+AQ==", state: .damaged, entries: 9)
        ledger.checkpoints = 2
        ledger.findings = [WireLedgerFinding(kind: "missing_leaves", position: 10)]
        ledger.findingCount = 1
        return ledger
    }

    static func ledgerEntries(from index: Int) -> WireLedgerEntries {
        WireLedgerEntries(
            from: index,
            entries: [#"{"event":"accepted"}"#],
            next: index == 0 ? 1 : nil
        )
    }

    static var hosts: [WireHost] {
        var first = WireHost(name: "a", partitions: 32, renewedAt: time)
        (first.isSteward, first.isThis) = (true, true)
        return [first, WireHost(name: "b", partitions: 32, renewedAt: time)]
    }

    static var vault: WireVault {
        var rotation = WireKeyRotation(state: .running)
        rotation.rewrapped = 400
        rotation.unreadable = 1
        rotation.startedAt = time
        rotation.endedAt = time
        rotation.error = "vault_key_exhausted"
        var vault = WireVault(
            isSealed: false,
            activeKeyID: "0123456789abcdef",
            rotation: rotation
        )
        vault.wraps = 400
        vault.wrapsMax = 1 << 24
        vault.keys = [
            WireVaultKey(id: "0123456789abcdef", state: .active, users: 400),
            WireVaultKey(id: "fedcba9876543210", state: .retired, users: 0),
        ]
        return vault
    }

    static var guardState: WireGuard {
        var state = WireGuard(
            isOpen: false,
            deletionsLastHour: 1000,
            deletionsPerHourMax: 1000,
            waiting: 3
        )
        state.overrideRemaining = 10
        state.overrideExpiresAt = time
        return state
    }

    static var status: WireStatus {
        var status = WireStatus(
            version: "0.1.0",
            state: .running,
            startedAt: time,
            guardState: guardState
        )
        status.requests = ["parked": 3, "completed": 0, "revoking": 12]
        status.parked = ["on_hold": 3]
        status.oldestOpenAt = time
        status.oldestOpenID = requestID
        status.alarms = ["configuration_refused"]
        status.refusedReload = RefusedReload(
            refusedAt: time,
            errors: ["expunged.toml:3: cannot use requests.dedline (unknown_key)"]
        )
        return status
    }

    static let settings = WireSettings(
        configuration: "[mail]\nfrom = \"ann@example.com\"\nretry_for = \"3d\"  # default\n",
        needRestart: ["vault.key_credential"]
    )

    static func health(_ name: String) -> WireHealth {
        var health = WireHealth(name: name, kind: "apple", state: .broken)
        health.detail = "breaker"
        health.inFlight = 1
        health.concurrency = 64
        health.waiting = 9
        health.retryAt = time
        health.lastSuccessAt = time
        health.lastFailureAt = time
        health.lastError = "unreachable"
        health.summary = "'\(name)' works: it answered as its configuration expects"
        health.uncovered = name == "app-db" ? ["posts.editor: refers to 'users'"] : []
        health.sampled = name == "app-db" ? ["posts/*: 20 of 30 were looked into"] : []
        health.unexamined = name == "app-db" ? ["letters: a lock"] : []
        health.advice = ["column 'editor' of table 'posts' has no index"]
        return health
    }

    static func event(_ sequence: Int64, state: RequestState) -> WireEvent {
        var event = WireEvent(sequence: sequence, kind: .request, at: time, requestID: requestID)
        event.state = state.rawValue
        return event
    }

    static var fullEvent: WireEvent {
        var event = event(7, state: .parked)
        event.detail = "on_hold"
        event.provider = "apple"
        event.store = "app-db"
        event.step = "revoke apple"
        event.verdict = .known(.accepted)
        event.attempt = 2
        return event
    }
}
