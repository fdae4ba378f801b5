import Engine
import Lifecycle
import Logging
import Providers
import Settings
import Storage

/// Turns verified notifications into durable facts, and those into what the policy asks for.
///
/// A notice is recorded before anything is answered, and acted on after that; one whose effect is
/// not recorded yet is acted on again at the next start, which changes nothing the second time.
struct NotificationDesk: Sendable {
    /// Notices that are read at once to be acted on.
    private static let pageSize = 100
    /// A full disk is waited out.
    private static let retryDelay = Duration.seconds(1)
    /// A code of 80 bits cannot be guessed.
    private static let codeByteCount = 10

    let state: StateDatabase
    let vault: any CredentialVault
    let hasher: any KeyedHasher
    let shelf: AdapterShelf
    let intake: IntakeDesk
    let clock: any EngineClock
    let logger: Logger
    let tally = NotificationTally()
    /// Where news of identities go once they are durable.
    let post: @Sendable (EngineInput) -> Void
    private let work = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(
        state: StateDatabase,
        vault: any CredentialVault,
        hasher: any KeyedHasher,
        shelf: AdapterShelf,
        intake: IntakeDesk,
        clock: any EngineClock,
        logger: Logger,
        post: @escaping @Sendable (EngineInput) -> Void
    ) {
        self.state = state
        self.vault = vault
        self.hasher = hasher
        self.shelf = shelf
        self.intake = intake
        self.clock = clock
        self.logger = logger
        self.post = post
    }

    /// Acts on what waits: at the start, and when the intake opens again.
    ///
    /// - Throws: `CancellationError`, or what the store throws.
    func run() async throws {
        nudge()
        for await _ in work.stream {
            do {
                try await settlePending()
            } catch let failure as any StoreFailure where failure.isRetryable {
                try await clock.sleep(until: clock.now() + Self.retryDelay)
                nudge()
            }
        }
    }

    /// Looks again at what waits.
    func nudge() { work.continuation.yield() }

    private func settlePending() async throws {
        while true {
            let pending = try await state.pendingNotices(limit: Self.pageSize)
            var isDone = true
            for notice in pending {
                let effect = try await settle(notice).effect
                isDone = isDone && effect == .postponed
            }
            guard !isDone, pending.count == Self.pageSize else { return }
        }
    }

    /// Records a verified notification and acts on it.
    ///
    /// - Returns: What it did; durable.
    /// - Throws: What the store throws; nothing may be answered then but that it failed.
    func take(
        _ notification: VerifiedNotification,
        of provider: ProviderName,
        at receivedAt: WallTime,
        from source: NoticeSource
    ) async throws -> NoticeResult {
        let isConfirmed =
            if case .confirmation = notification.acknowledgement { true } else { false }
        let records = notification.notices.filter { $0.meaning != .other }.map { notice in
            record(notice, of: provider, at: receivedAt, from: source, hasCode: isConfirmed)
        }
        guard !records.isEmpty else {
            tally.count(provider, .noted)
            return NoticeResult(
                answer: answer(notification.acknowledgement, code: nil),
                effect: .noted,
                requestID: nil
            )
        }
        var results: [(effect: NoticeEffect, requestID: RequestID?)] = []
        let recorded = try await state.recordNotices(records)
        for notice in recorded {
            if let effect = notice.effect {
                results.append((effect, notice.requestID))
            } else {
                results.append(try await settle(notice))
            }
        }
        let order = NoticeEffect.allCases
        let first = results.min {
            (order.firstIndex(of: $0.effect) ?? 0) < (order.firstIndex(of: $1.effect) ?? 0)
        }
        return NoticeResult(
            answer: answer(notification.acknowledgement, code: recorded.first?.code),
            effect: first?.effect ?? .noted,
            requestID: first?.requestID
        )
    }

    private func record(
        _ notice: ProviderNotice,
        of provider: ProviderName,
        at receivedAt: WallTime,
        from source: NoticeSource,
        hasCode: Bool
    ) -> NoticeRecord {
        let key = provider.rawValue + "\u{0}" + notice.dedupeKey.exposeText()
        let code = hasher.hash("code\u{0}" + key, domain: .notification)
            .prefix(Self.codeByteCount)
        return NoticeRecord(
            keyHash: hasher.hash("key\u{0}" + key, domain: .notification),
            provider: provider,
            meaning: notice.meaning,
            event: notice.event,
            subjectHash: notice.subject.map { SubjectHash.make($0, at: provider, hasher) },
            clientIDs: notice.clientIDs,
            occurredAt: min(notice.occurredAt, receivedAt),
            receivedAt: receivedAt,
            uid: source.uid,
            role: source.role,
            code: hasCode ? code.map { Self.hexadecimal($0) }.joined() : nil
        )
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    private func answer(
        _ acknowledgement: NotificationAcknowledgement,
        code: String?
    ) -> NotificationAnswer {
        switch acknowledgement {
        case .status(let status): return NotificationAnswer(status: status)
        case .confirmation(let prefix):
            let code = code ?? ""
            return NotificationAnswer(
                status: 200,
                contentType: "application/json",
                body: #"{"url":"\#(prefix)\#(code)","confirmation_code":"\#(code)"}"#
            )
        }
    }
}

// MARK: - Acting on a notice

extension NotificationDesk {
    private typealias Settled = (effect: NoticeEffect, requestID: RequestID?)

    /// Acts on a recorded notice and records the effect; idempotent.
    private func settle(_ notice: NoticeRecord) async throws -> Settled {
        let settled = try await act(on: notice)
        if settled.effect != .postponed {
            try await state.settleNotice(
                notice.keyHash,
                settled.effect,
                request: settled.requestID
            )
        }
        tell(settled, notice)
        return settled
    }

    private func act(on notice: NoticeRecord) async throws -> Settled {
        let now = clock.now()
        guard now.since(notice.occurredAt) < StateDatabase.noticeAgeMax else {
            return (.stale, nil)
        }
        let providers = shelf.current.configuration.providers
        guard let provider = providers.first(where: { $0.name == notice.provider }) else {
            return (.reported, nil)
        }
        let policy = provider.notifications.policy
        let finding = try await state.weigh(
            notice,
            mayUpdateLink: policy.mayUpdateLink(notice.meaning),
            at: now
        )
        switch finding {
        case .unknown: return (.unknownSubject, nil)
        case .echo(let request, _): return (.echo, request)
        case .shared: return (.sharedIdentity, nil)
        case .stale: return (.stale, nil)
        case .user(let user):
            for news in user.news where !news.openRequests.isEmpty { post(.news(news)) }
            return notice.meaning.endsAccount
                ? try await end(user, notice, policy) : cut(user, notice.meaning, policy)
        }
    }

    private func cut(
        _ user: NoticedUser,
        _ meaning: NoticeMeaning,
        _ policy: NoticePolicy
    ) -> Settled {
        guard policy.onLinkCut == .update else { return (.reported, nil) }
        guard !meaning.isHint else { return (.hinted, user.openDeletion) }
        let request = user.news.lazy.flatMap(\.openRequests).first ?? user.openDeletion
        return (user.raised > 0 ? .echo : .linkUpdated, request)
    }

    /// A `delete_account` like any other: grace period, guard and holds apply.
    private func end(
        _ noticed: NoticedUser,
        _ notice: NoticeRecord,
        _ policy: NoticePolicy
    ) async throws -> Settled {
        if let open = noticed.openDeletion { return (.deletionOpen, open) }
        guard policy.mayDelete(notice.meaning) else { return (.reported, nil) }
        guard !intake.isPaused, vault.isOpen else { return (.postponed, nil) }
        guard let user = userID(of: noticed) else { return (.reported, nil) }
        var submission = Submission(
            kind: .deleteAccount,
            user: user,
            userHash: noticed.userHash,
            createdAt: notice.receivedAt,
            origin: .control(uid: notice.uid, role: notice.role)
        )
        submission.isSignInWaived = true
        submission.idempotency = IdempotencyKey(
            scope: "notification",
            keyHash: notice.keyHash,
            bodyFingerprint: noticed.userHash
        )
        switch try await intake.accept([submission]).first {
        case .accepted(let loaded, _): return (.deletionRequested, loaded.request.id)
        case .same(let id): return (.deletionRequested, id)
        case .rejected(.alreadyOpen), .rejected(.deletionInProgress): return (.deletionOpen, nil)
        case .rejected, .unproven, nil: return (.reported, nil)
        }
    }

    /// `nil` when it was never stored, or does not open, or is not the one that it should be.
    private func userID(of noticed: NoticedUser) -> UserID? {
        guard let sealed = noticed.userID else { return nil }
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
            logger.error(
                "cannot open a user id that a provider asks for",
                metadata: ["error": "\(error.kind.rawValue)"]
            )
            return nil
        }
    }

    private func tell(_ settled: Settled, _ notice: NoticeRecord) {
        tally.count(notice.provider, settled.effect)
        var facts: Logger.Metadata = [
            "provider": "\(notice.provider)", "detail": "\(settled.effect.rawValue)",
            "step": "\(notice.event)", "peer.uid": "\(notice.uid)",
        ]
        if let id = settled.requestID { facts["request.id"] = "\(id)" }
        switch settled.effect {
        case .reported, .sharedIdentity: logger.note(.notificationReported, facts)
        default: logger.note(.providerNotified, facts)
        }
    }

    /// Counts a refusal and tells about it, now and then.
    func refused(_ refusal: NotificationRefusal) {
        tally.count(refusal.provider, .refused)
        guard tally.mayWarn(refusal.provider, at: clock.now()) else { return }
        logger.note(
            .notificationRefused,
            ["provider": "\(refusal.provider)", "error": "\(refusal.kind.rawValue)"]
        )
    }
}
