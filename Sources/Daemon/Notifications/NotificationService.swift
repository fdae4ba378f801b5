import Encoding
import Engine
import Lifecycle
import Logging
import Providers
import Settings
import Storage

/// Records verified notifications durably, and acts on them by the policy.
///
/// One whose effect is not recorded is acted on again at the next start, which changes nothing the
/// second time.
struct NotificationService: Sendable {
    private static let pageSize = 100
    /// A code of 80 bits cannot be guessed.
    private static let codeByteCount = 10
    /// One refused notification a minute is reported, so that a stranger cannot flood the journal.
    private static let warningInterval = Duration.seconds(60)

    /// How notifications of one provider ended.
    struct Outcome: Hashable, Sendable {
        let provider: ProviderName
        let effect: NotificationEffect
    }

    let state: StateDatabase
    let vault: any CredentialVault
    let hasher: any KeyedHasher
    let registry: AdapterRegistry
    let intake: IntakeService
    let clock: any EngineClock
    let logger: Logger
    var steward = Steward.single
    let counter = Counter<Outcome>()
    /// Where updates of identities go once they are durable.
    let post: @Sendable (EngineInput) -> Void
    private let work = WakeSignal()
    private let warnedAt = Latest<[ProviderName: WallTime]>([:])

    /// Acts on what waits: at the start, and when the intake opens again.
    func run() async throws {
        signal()
        for await _ in work.signals {
            _ = try await steward.run { try await clock.persist { try await settlePending() } }
        }
    }

    func signal() { work.send() }

    private func settlePending() async throws {
        while true {
            let pending = try await state.pendingNotifications(limit: Self.pageSize)
            var isDone = true
            for notification in pending {
                let effect = try await settle(notification).effect
                isDone = isDone && effect == .postponed
            }
            guard !isDone, pending.count == Self.pageSize else { return }
        }
    }

    /// Records a verified notification and acts on it.
    ///
    /// After an error nothing may be answered but the failure.
    func take(
        _ notification: VerifiedNotification,
        of provider: ProviderName,
        at receivedAt: WallTime,
        from source: NotificationSource
    ) async throws -> NotificationResult {
        let isConfirmed =
            if case .confirmation = notification.acknowledgement { true } else { false }
        let records = notification.notifications.filter { $0.meaning != .other }.map {
            notification in
            record(notification, of: provider, at: receivedAt, from: source, hasCode: isConfirmed)
        }
        guard !records.isEmpty else {
            counter.count(Outcome(provider: provider, effect: .noted))
            return NotificationResult(
                answer: answer(notification.acknowledgement, code: nil),
                effect: .noted,
                requestID: nil
            )
        }
        var results: [(effect: NotificationEffect, requestID: RequestID?)] = []
        let recorded = try await state.recordNotifications(records)
        for notification in recorded {
            if let effect = notification.effect {
                results.append((effect, notification.requestID))
            } else {
                results.append(try await settle(notification))
            }
        }
        let leading = NotificationEffect.leading(results)
        return NotificationResult(
            answer: answer(notification.acknowledgement, code: recorded.first?.code),
            effect: leading.effect,
            requestID: leading.requestID
        )
    }

    private func record(
        _ notification: ProviderNotification,
        of provider: ProviderName,
        at receivedAt: WallTime,
        from source: NotificationSource,
        hasCode: Bool
    ) -> NotificationRecord {
        let key = provider.rawValue + "\u{0}" + notification.dedupeKey.exposeText()
        let code = hasher.hash("code\u{0}" + key, domain: .notification)
            .prefix(Self.codeByteCount)
        return NotificationRecord(
            keyHash: hasher.hash("key\u{0}" + key, domain: .notification),
            provider: provider,
            meaning: notification.meaning,
            event: notification.event,
            subjectHash: notification.subject.map { SubjectHash.make($0, at: provider, hasher) },
            clientIDs: notification.clientIDs,
            occurredAt: min(notification.occurredAt, receivedAt),
            receivedAt: receivedAt,
            uid: source.uid,
            role: source.role,
            code: hasCode ? Hexadecimal.text(Array(code)) : nil
        )
    }

    private func answer(
        _ acknowledgement: NotificationAcknowledgement,
        code: String?
    ) -> NotificationAnswer {
        switch acknowledgement {
        case .status(let status): return NotificationAnswer(status: status)
        case .confirmation(let prefix):
            let code = code ?? ""
            let body = JSONWriter.object {
                $0.member("url", prefix + code)
                $0.member("confirmation_code", code)
            }
            return NotificationAnswer(
                status: 200,
                contentType: "application/json",
                body: String(decoding: body, as: UTF8.self)
            )
        }
    }
}

// MARK: - Acting on a notice

extension NotificationService {
    private typealias Settled = (effect: NotificationEffect, requestID: RequestID?)

    /// Idempotent.
    private func settle(_ notification: NotificationRecord) async throws -> Settled {
        let settled = try await act(on: notification)
        if settled.effect != .postponed {
            try await state.settleNotification(
                notification.keyHash,
                settled.effect,
                request: settled.requestID
            )
        }
        tell(settled, notification)
        return settled
    }

    private func act(on notification: NotificationRecord) async throws -> Settled {
        let now = clock.now()
        let providers = registry.current.configuration.providers
        let policy = providers.first { $0.name == notification.provider }?.notifications.policy
        let start = NotificationDecision.start(
            occurredAt: notification.occurredAt,
            ageMax: StateDatabase.notificationAgeMax,
            policy: policy,
            at: now
        )
        switch start {
        case .settled(let effect): return (effect, nil)
        case .read(let policy): return try await act(on: notification, policy, at: now)
        }
    }

    private func act(
        on notification: NotificationRecord,
        _ policy: NotificationPolicy,
        at now: WallTime
    ) async throws -> Settled {
        let finding = try await state.weigh(
            notification,
            mayUpdateLink: policy.mayUpdateLink(notification.meaning),
            at: now
        )
        if case .user(let user) = finding {
            for update in user.update where !update.openRequests.isEmpty { post(.update(update)) }
        }
        let decision = NotificationDecision(
            notification.meaning,
            of: finding.known,
            policy: policy,
            canSubmit: !intake.isPaused && vault.isOpen
        )
        switch (decision, finding) {
        case (.deletion, .user(let user)): return try await end(user, notification)
        case (.deletion, _): return (.unknownSubject, nil)
        case (.settled(let effect, let request), _): return (effect, request)
        }
    }

    /// A `delete_account` like any other: grace period, guard and holds apply.
    private func end(
        _ noticed: NotifiedUser,
        _ notification: NotificationRecord
    ) async throws -> Settled {
        guard let user = userID(of: noticed) else { return (.reported, nil) }
        var submission = Submission(
            kind: .deleteAccount,
            user: user,
            userHash: noticed.userHash,
            createdAt: notification.receivedAt,
            origin: .control(uid: notification.uid, role: notification.role)
        )
        submission.isSignInWaived = true
        submission.idempotency = IdempotencyKey(
            scope: "notification",
            keyHash: notification.keyHash,
            bodyFingerprint: noticed.userHash
        )
        switch try await intake.accept([submission]).first {
        case .accepted(let loaded, _): return (.deletionRequested, loaded.request.id)
        case .same(let id): return (.deletionRequested, id)
        case .rejected(.alreadyOpen), .rejected(.deletionInProgress): return (.deletionOpen, nil)
        case .rejected, .unproven, nil: return (.reported, nil)
        }
    }

    /// `nil` when it does not open, or is another user's.
    private func userID(of noticed: NotifiedUser) -> UserID? {
        let sealed = noticed.userID
        do throws(VaultError) {
            let context = SealedUserID.context(
                rowNonce: sealed.rowNonce,
                userHash: noticed.userHash
            )
            let opened = try vault.open(sealed.sealed, under: noticed.userKey, context: context)
            let text = opened.exposeText()
            guard hasher.hash(text, domain: .user) == noticed.userHash else { return nil }
            return UserID(text)
        } catch {
            logger.note(
                .operationFailed,
                ["step": "open_user_id", "error": "\(error.kind.rawValue)"]
            )
            return nil
        }
    }

    private func tell(_ settled: Settled, _ notification: NotificationRecord) {
        counter.count(Outcome(provider: notification.provider, effect: settled.effect))
        var facts: Logger.Metadata = [
            "provider": "\(notification.provider)", "detail": "\(settled.effect.rawValue)",
            "step": "\(notification.event)", "peer.uid": "\(notification.uid)",
        ]
        if let id = settled.requestID { facts["request.id"] = "\(id)" }
        switch settled.effect {
        case .reported, .sharedIdentity: logger.note(.notificationReported, facts)
        default: logger.note(.providerNotified, facts)
        }
    }

    func refused(_ refusal: NotificationRefusal) {
        counter.count(Outcome(provider: refusal.provider, effect: .refused))
        let now = clock.now()
        let mayWarn = warnedAt.withLock { warnedAt in
            let last = warnedAt[refusal.provider]
            guard last.map({ now >= $0 + Self.warningInterval }) ?? true else { return false }
            warnedAt[refusal.provider] = now
            return true
        }
        guard mayWarn else { return }
        logger.note(
            .notificationRefused,
            ["provider": "\(refusal.provider)", "error": "\(refusal.kind.rawValue)"]
        )
    }
}

extension NotificationFinding {
    fileprivate var known: NotificationDecision.Finding {
        switch self {
        case .unknown: .unknown
        case .echo(let request, _): .echo(request)
        case .shared: .shared
        case .stale: .stale
        case .user(let user):
            .user(
                NotificationDecision.User(
                    openDeletion: user.openDeletion,
                    openRequest: user.update.lazy.flatMap(\.openRequests).first,
                    raised: user.raised,
                    isOtherAccount: user.isOtherAccount
                )
            )
        }
    }
}

/// Who handed a notification on.
struct NotificationSource: Sendable {
    let uid: UInt32
    let role: String
}

struct NotificationResult: Sendable {
    let answer: NotificationAnswer
    let effect: NotificationEffect
    let requestID: RequestID?
}
