package import Lifecycle

/// Names a caller that waits for the outcome of an operation.
package struct Ticket: Hashable, Sendable {
    package let number: UInt64
    /// The row that another host's caller reads; the commit of the operation answers it.
    let operation: OperationID?

    package init(number: UInt64) { (self.number, operation) = (number, nil) }

    init(_ operation: OperationID) { (number, self.operation) = (0, operation) }
}

/// Numbers the reads of the state, so that a late answer is known to be old.
package struct ReadNumber: Hashable, Sendable, Comparable {
    package let value: UInt64

    /// Later than every read that has begun: what it brings is as the state has it.
    package static let latest = ReadNumber(value: .max)

    package static func < (left: ReadNumber, right: ReadNumber) -> Bool { left.value < right.value }
}

/// How an operation on a request ended.
package enum OperationOutcome: Hashable, Sendable {
    case done
    case refused(OperationRefusal)
    case notOpen
}

/// Tokens that an exchange brought, sealed, and what it told about the subject.
package struct ExchangeResult: Hashable, Sendable {
    package let event: CodeExchange.Event
    package var tokens: [SealedToken] = []
    package var subject: LearnedSubject?
    /// What the vendor answered, where it gave out no tokens.
    package var answer: Refusal?
}

/// Everything that can happen to the engine.
package enum EngineInput: Sendable {
    /// Requests that were accepted just now, by a commit that began after
    /// ``EngineCore/beginAdmission()``.
    case admitted([LoadedRequest], by: ReadNumber)
    case fetched(ReadNumber, DueRequests, limit: Int)
    case loaded(ReadNumber, [LoadedRequest], asked: [RequestID])
    case codes([LoadedExchange])
    case committed([ChangeUpdate?])
    case answered(RequestID, RequestEvent, ProviderName, EffectFailure?, VendorAnswer? = nil)
    /// `reason` is the store's own of a failure, without personal data.
    case storeAnswered(StoreName, [(RequestID, RequestEvent)], reason: String? = nil)
    /// A run of rechecks waits for a turn; a hold stops its orders of these requests by the gate.
    case takeTurn(StoreName, [RequestID], PurgeGate, KnownHolds, Ticket)
    case endTurn(StoreName)
    case planned(RequestID, PlanResult)
    case exchanged(CredentialID, ExchangeResult)
    case renewalsFound(DueRenewals)
    case renewed(CredentialID, CheckAnswer)
    case operate(RequestID, RequestEvent, Ticket)
    /// The vault learned something outside the lane: a credential arrived or was forgotten.
    case update(IdentityUpdate)
    /// By source.
    case spoolRead([String: SpoolReadOutcome])
    case sourceBack
    /// Users of whom a credential in the spool could not be sealed; replaces those of before.
    case unsealed(UnsealedUsers)
    case clockStepped(ClockStep)
    /// Answered when the state has taken over every jump of the clock.
    case clockSettled(Ticket)
    case clockFloor(WallTime)
    /// `by` is the operator who asked for it: then the reason takes the place of another one.
    case pause(ProviderName, reason: String, by: UInt32? = nil)
    /// With `isOwn` only what the service has paused by itself.
    case resume(ProviderName, isOwn: Bool = false)
    /// With `isWell`, somebody asked the provider and it answered as it should: calls need no probe
    /// first. Of users whose client id is not configured, only those of `unserved` wait.
    case checked(ProviderName, isWell: Bool, unserved: Set<String>)
    case pauseStore(StoreName, reason: String, by: UInt32? = nil)
    case resumeStore(StoreName, isOwn: Bool = false)
    case reconfigured(EngineConfiguration)
    case placeHold(StoreHold, Ticket)
    case liftHold(String, by: UInt32, Ticket)
    /// A hold on a user is durable. The user's open requests are held one by one.
    case userHeld(Ticket)
    /// An operator lets this many purges past the mass-deletion guard.
    case guardOverride(purges: Int, until: WallTime)
    case restraintLifted
    /// The shell has acquired partitions, and read where their last owner stopped.
    case gained([PartitionStart])
    /// Other hosts may own them by now: everything about them is dropped.
    case lost(PartitionSet)
    /// Ends what is under way and begins nothing more; the answer is ``EngineAction/left(_:)``.
    case leave(PartitionSet)
    /// The commit under way was not made.
    case refused(CommitRefusal)
    /// An answer to an action of the turn whose ``EngineCore/lastRead`` it was.
    indirect case under(ReadNumber, EngineInput)
    /// The version of the rules, and the purges that all hosts have begun in the last hour.
    case renewedLeases(rulesVersion: Int64, purgesInLastHour: Int)
    case rules(ReadNumber, SharedRules)
    /// Other hosts may have left rows or due requests.
    case mailed
    case inbox(ReadNumber, PartitionInbox)
    /// Answered at once, to show that the loop turns.
    case probe(Ticket)
    case timer
}

extension EngineInput {
    var isClockStep: Bool { if case .clockStepped = self { true } else { false } }
}

/// Everything the engine wants done; actions of one step are independent of each other.
package enum EngineAction: Sendable {
    case fetchDue(
        ReadNumber,
        limit: Int,
        excluding: Set<RequestID>,
        laneLimits: [ProviderName: Int],
        in: PartitionSet
    )
    case load(ReadNumber, [RequestID])
    case readSpool
    /// At most one commit is under way; the answer is ``EngineInput/committed(_:)``, or
    /// ``EngineInput/refused(_:)``. A single host has no claims.
    case commit([StateChange], under: [PartitionClaim]?)
    indirect case call(RequestID, TokenCall, ProviderName, SealedCredential)
    /// The answer is ``EngineInput/answered(_:_:_:_:)``; with a credential of each known subject.
    indirect case lookUp(RequestID, ProviderName, UserID, [SealedCredential])
    case exchange(LoadedExchange)
    case plan(PlanOrder)
    case findRenewals([ProviderName], limit: Int, in: PartitionSet)
    case renew(SealedCredential)
    case purge(StoreName, [PurgeOrder])
    /// Lets no order of these requests begin any more; comes before the answer to the hold.
    case stop(PurgeGate, [RequestID])
    case retire(PurgeGate)
    case verify(StoreName, [PurgeOrder])
    case readRules(ReadNumber)
    case readInbox(ReadNumber, PartitionSet)
    /// Nothing of these partitions is under way any more, and they are not owned.
    case left([PartitionClaim])
    case reply(Ticket, OperationOutcome)
    indirect case changed(Request)
    case announce(RequestID, Announcement)
    case report(EngineReport)
}

/// A fact about the engine itself that an operator cares about.
package enum EngineReport: Hashable, Sendable {
    case providerPaused(ProviderName, reason: String)
    case providerResumed(ProviderName)
    case storePaused(StoreName, reason: String)
    case storeResumed(StoreName)
    /// Its breaker has opened, or for minutes no call was answered as it should be.
    case outageBegan(ProviderName, reason: String)
    /// With the client or directory, where it was that one's.
    case outageEnded(ProviderName, client: String? = nil)
    /// A deletion has made no progress there for ``Lifecycle/Limits/stuckAfter``.
    case storeStuck(StoreName, reason: String)
    case storeGoesOn(StoreName)
    case guardTripped
    case subjectMismatch(ProviderName)
    case codeLost(ProviderName, CodeExchange.Phase, Refusal? = nil)
    case tokenRotated(ProviderName)
    case tokenRenewed(ProviderName, RenewalResult)
    case tokensExpiring(ProviderName, count: Int)
    case unreadSources([String], count: Int)
    case clockBehind
    /// A provider or the directory answered, or failed to.
    case called(ProviderName, EffectFailure?, duration: Duration)
    /// A store answered one call with the orders of many requests.
    case purged(StoreName, [PurgeAnswer], duration: Duration)
}

/// What the operator configured, as far as the engine cares.
package struct EngineConfiguration: Sendable {
    package let providers: [ProviderName: ProviderPolicy]
    package let lanes: [ProviderName: LaneLimits]
    package let stores: [StoreName]
    package let withoutIdentities: WithoutIdentities
    package let purgesPerHourMax: Int
    /// Asked for a user's identities before anything is revoked; has a lane like a provider.
    package let directory: ProviderName?
    package var approval = ApprovalPolicy.none
    package var keySources: [StoreName: StoreName] = [:]
    package var keyedStoresToPark: Set<StoreName> = []
    package var lastStores: Set<StoreName> = []

    package init(
        providers: [ProviderName: ProviderPolicy],
        lanes: [ProviderName: LaneLimits],
        stores: [StoreName],
        withoutIdentities: WithoutIdentities,
        purgesPerHourMax: Int,
        directory: ProviderName? = nil
    ) {
        (self.providers, self.lanes, self.stores) = (providers, lanes, stores)
        (self.withoutIdentities, self.purgesPerHourMax) = (withoutIdentities, purgesPerHourMax)
        self.directory = directory
    }
}

extension Environment {
    mutating func adopt(_ configuration: EngineConfiguration) {
        providers = configuration.providers
        withoutIdentities = configuration.withoutIdentities
        directory = configuration.directory
        stores = configuration.stores
        keySources = configuration.keySources
        keyedStoresToPark = configuration.keyedStoresToPark
        lastStores = configuration.lastStores
    }
}
