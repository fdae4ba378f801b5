/// What an operator or an application may want to see in the journal.
///
/// One table holds the template, the severity and the message id of each event; the texts that
/// `journalctl -x` shows are in `systemd/expunged.catalog`, which a test compares with this table.
/// An id never changes and is never used again: alerts of operators are built on it.
package enum JournalEvent: String, Sendable, CaseIterable {
    // Service
    case started, stopping, uncleanStop, configurationReloaded, configurationRefused
    case storageFailed, journalOverflow, operatorAction, intakePaused, intakeResumed
    case caution, serviceFailed, operationFailed, watchdogNotFed

    // Vault
    case vaultSealed, vaultOpened, credentialNotSealed, codeExpired, subjectMismatch
    case tokensExpiring, keyRotationStarted, keyRotationFinished, keyRotationStopped

    // Ledger
    case ledgerCheckpoint, ledgerDamaged, stateRolledBack, rollbackAccepted, replayStarted
    case replayFinished, replayIncomplete, ledgerRepaired, checkpointFailed

    // Rechecks
    case dataReturned, recheckOverdue, recheckClosed

    // Requests
    case requestAccepted, requestRejected, requestCompleted, nothingErased, requestCancelled
    case requestParked, requestReleased, requestQuarantined, requestAbandoned, requestApproved
    case planChanged, revocationVerdict, notRevoked, purgeStarted, rowsRemaining, purgeBlocked
    case deadlineNear, deadlinePassed, guardTripped, guardOverridden

    // Providers
    case providerPaused, providerResumed, outageBegan, outageEnded

    // Notifications of providers
    case providerNotified, notificationReported, notificationRefused, notificationPollFailed

    // Stores
    case storePaused, storeResumed, storeStuck, storeGoesOn, componentUnfit

    // Spool
    case spoolQuarantined, spoolUnwritable, spoolForeignObjects, spoolUnreadableRows, spoolBack
    case spoolReplaced, spoolInWAL, unreadSources

    // Queues
    case queueQuarantined, queueUnwritable, queueIrregular, queueBack

    // Messages
    case messagesFailing, messagesDelivered, messagesGivenUp, messagesDropped
    case recipientsRefused

    // Clock
    case clockStepped, clockBehind
}

extension JournalEvent {
    /// How loud an event is; the names are those of syslog(3).
    ///
    /// From warning up it is an alarm, so what an operator did is a notice.
    package enum Severity: String, Sendable, CaseIterable {
        case info
        case notice
        case warning
        case error
        case critical
    }

    package var severity: Severity { row.severity }

    /// In the field EXPUNGED_EVENT and on lines outside the journal: `request_parked`.
    package var name: String { rawValue.snakeCased }

    /// The sentence of the entry, to be filled with its fields.
    ///
    /// `{field}` is a value, `{field as words}` a code in words, `{field noun}` a count of nouns.
    /// A part in brackets is left out where the entry lacks its field.
    package var template: String {
        switch self {
        case .started: "service started"
        case .stopping: "service stopping"
        case .uncleanStop: "previous run ended uncleanly: {detail as words}"
        case .configurationReloaded:
            "configuration reloaded: {count setting} changed, {detail as words}"
        case .configurationRefused: "configuration refused: {error}"
        case .caution: "caution: {detail}"
        case .serviceFailed: "service cannot go on: {error}"
        case .operationFailed:
            "{step as words} failed[ in store {store}]"
                + "[ for request {request.id}]: {error as words}"
        case .watchdogNotFed: "watchdog not fed: {detail}"
        case .storageFailed: "state database failed, exiting: {error}"
        case .journalOverflow: "journal entries dropped: {count}"
        case .operatorAction:
            "[operator action of uid {operator.uid}][action of application uid {peer.uid}]"
                + ": {step as words}[, request {request.id}]"
                + "[, provider {provider}][, store {store}]"
        case .intakePaused: "intake paused, new requests wait"
        case .intakeResumed: "intake resumed"
        case .vaultSealed:
            "vault sealed: {error as words}[, provider {provider}][, request {request.id}]"
        case .vaultOpened: "vault opened with key {detail}"
        case .credentialNotSealed: "credential not sealed: {error as words}"
        case .codeExpired: "authorization code of {provider} lost: {detail as words}[ ({error})]"
        case .subjectMismatch: "credential of {provider} belongs to another account"
        case .tokensExpiring: "tokens of {provider} about to expire unused: {count}"
        case .keyRotationStarted: "key rotation to vault key {detail} started"
        case .keyRotationFinished:
            "key rotation to vault key {detail} finished: {count user key} wrapped"
        case .keyRotationStopped: "key rotation stopped: {error as words}"
        case .ledgerCheckpoint: "ledger checkpoint: {detail}"
        case .ledgerDamaged: "ledger damaged[: {detail as words}][: {count finding}]"
        case .ledgerRepaired: "ledger repaired after an unclean stop: {detail as words}"
        case .checkpointFailed: "ledger checkpoint not written: {error}"
        case .stateRolledBack:
            "state older than it was: {count} or more ledger entries missing"
        case .rollbackAccepted: "older or changed state accepted by uid {operator.uid}"
        case .replayStarted: "{detail} started"
        case .replayFinished: "replay finished for {count user}"
        case .replayIncomplete: "replay incomplete after {count user}, see expungectl replay status"
        case .dataReturned:
            "erased data is back in store {store}"
                + "[ for request {request.id}]: {count} found[ in a {detail}]"
        case .recheckOverdue: "store {store} not rechecked for three days"
        case .recheckClosed: "rechecks of request {request.id} ended: {detail as words}"
        case .requestAccepted: "request {request.id} accepted"
        case .requestRejected: "request rejected[ in spool {detail}]: {error as words}"
        case .requestCompleted: "request {request.id} completed"
        case .nothingErased:
            "request {request.id} completed, but erased nothing: all data is newer or undated"
        case .requestCancelled: "request {request.id} cancelled"
        case .requestParked:
            "request {request.id} waits: {detail as words}[: {provider}][ answered {error}]"
        case .requestReleased: "request {request.id} continues"
        case .requestQuarantined: "request {request.id} quarantined: at work during three crashes"
        case .requestAbandoned: "request {request.id} abandoned by an operator"
        case .requestApproved: "request {request.id} approved"
        case .planChanged: "request {request.id} waits: plan changed since its approval"
        case .revocationVerdict:
            "{provider} identity of request {request.id}: {verdict as words}[ ({attempt call})]"
        case .notRevoked:
            "{provider} identity of request {request.id} not revoked[: {verdict as words}]"
                + "[: {error as words}]"
        case .purgeStarted: "purge of request {request.id} started"
        case .rowsRemaining:
            "store {store} still has data of request {request.id} after its purge"
        case .purgeBlocked:
            "store {store} does not erase the user of request {request.id}: {detail}"
        case .deadlineNear: "deadline of request {request.id} is near: {detail}"
        case .deadlinePassed: "deadline of request {request.id} has passed: {detail}"
        case .guardTripped: "mass deletion guard tripped, purges wait"
        case .guardOverridden:
            "mass deletion guard overridden by uid {operator.uid} for {count purge}"
        case .providerPaused: "provider {provider} paused: {error as words}"
        case .providerResumed: "provider {provider} resumed"
        case .outageBegan: "users of provider {provider} are not served[: {error as words}]"
        case .outageEnded: "outage[ of '{detail}'] at provider {provider} ended"
        case .providerNotified:
            "notification of {provider} accepted: {detail as words}[, request {request.id}]"
        case .notificationReported:
            "notification of {provider} needs an operator: {detail as words}"
        case .notificationRefused: "notification of {provider} refused: {error as words}"
        case .notificationPollFailed:
            "notifications of {provider} cannot be polled: {error as words}"
        case .storePaused: "store {store} paused: {error as words}"
        case .storeResumed: "store {store} resumed"
        case .storeStuck: "a deletion in store {store} makes no progress: {error as words}"
        case .storeGoesOn: "no deletion fails in store {store} any more"
        case .componentUnfit:
            "[provider {provider}][store {store}][subscriber {subscriber}]"
                + " cannot be used: {error}"
        case .spoolQuarantined: "spool cannot be used: {error as words}"
        case .spoolUnwritable: "spool cannot be written: {error as words}"
        case .spoolForeignObjects: "spool has {count foreign object}"
        case .spoolUnreadableRows: "spool has {count unreadable row}"
        case .spoolBack: "spool recovered[: {detail as words}]"
        case .spoolReplaced: "spool replaced or restored: {detail as words}[ ({count})]"
        case .spoolInWAL: "spool in WAL mode, nothing is imported"
        case .unreadSources: "cannot read {detail}: {count request} no longer waiting for it"
        case .queueQuarantined: "queue {detail} cannot be used: {error as words}"
        case .queueUnwritable: "queue {detail} cannot be written: {error as words}"
        case .queueIrregular: "queue {detail} irregular: {error as words}[ ({count})]"
        case .queueBack: "queue {detail} recovered"
        case .messagesFailing: "messages to subscriber {subscriber} fail: {error as words}"
        case .messagesDelivered: "messages to subscriber {subscriber} are delivered again"
        case .messagesGivenUp:
            "messages to subscriber {subscriber} given up ({count}): {error as words}"
        case .messagesDropped:
            "messages to subscriber {subscriber} dropped ({count}): its queue is full"
        case .recipientsRefused: "mail server refuses {count recipient}: {detail}"
        case .clockStepped: "system clock jumped by {detail}"
        case .clockBehind: "system clock behind the ledger: nothing is revoked or purged"
        }
    }

    /// The journal's `MESSAGE_ID`: 128 random bits in hexadecimal (sd-id128(3)).
    package var messageID: String { row.id }

    private var row: (severity: Severity, id: String) {
        switch self {
        case .started: (.notice, "ac702851b1e34eee8b70edf5c153b7d3")
        case .stopping: (.notice, "940804e7eb2d49e5be0439d0cab052d5")
        case .uncleanStop: (.warning, "8699cdb085b34bdda777fad5fcc0197f")
        case .configurationReloaded: (.notice, "6a7fc04d4aa940e4bc686b7dd85888a4")
        case .configurationRefused: (.error, "1a8a5d9a31ef479c8088b5d260460e79")
        case .caution: (.warning, "c54da5a27e0d4e45a90db0421cea319d")
        case .serviceFailed: (.critical, "ade2ab8704f1487abfcc2f3f31a0f5e9")
        case .operationFailed: (.error, "3acfe06f57414f8096cfa93b8d94d8b7")
        case .watchdogNotFed: (.warning, "8e9e53e59b2e4524923a5cd0aec60dd0")
        case .storageFailed: (.critical, "f9b08a3dbf7548689fdaec4546b60499")
        case .journalOverflow: (.warning, "21ffddc3ec7c4c468fbe73303a7698ba")
        case .operatorAction: (.notice, "40e6eb7d498a4e3cb3b495adfba086d2")
        case .intakePaused: (.notice, "1bc9c1d75bac478bab20e3955e4244a7")
        case .intakeResumed: (.notice, "f8d5182bb1ae4442aa30c51d5b0b4897")
        case .vaultSealed: (.error, "faea9e90db5548c78fe6c7460c7079ae")
        case .vaultOpened: (.notice, "93de8f75171e4acf93e150c30e9fecc1")
        case .credentialNotSealed: (.error, "945fa09bfc2941df8537d91aceab341c")
        case .codeExpired: (.error, "1cf6adc6735a48e780b5329c681eac21")
        case .subjectMismatch: (.warning, "1a0765be27d04eeeaa17bc15f5ff7014")
        case .tokensExpiring: (.warning, "0f6c2f1d9c664b0d9f0e5b1a7d3c84e2")
        case .keyRotationStarted: (.notice, "7dd907f2c30f4333b3dbf3918f9a017f")
        case .keyRotationFinished: (.notice, "721c912f502a4c5aba7c679458788507")
        case .keyRotationStopped: (.error, "6e589a30b82f4516aeb130cd8b17c2bf")
        case .ledgerCheckpoint: (.info, "153e21ea0d45442783cec8bb26ec709f")
        case .ledgerDamaged: (.critical, "ddac4a2f548946fe863ff837689648d2")
        case .ledgerRepaired: (.warning, "55070341b3b043379ac2e5379185f3e7")
        case .checkpointFailed: (.error, "07a0f2e2604c4d6287b96b00e9d59031")
        case .stateRolledBack: (.critical, "28a9fc5e6f91446dbafb5c647b134503")
        case .rollbackAccepted: (.warning, "19010631def843618c2d3689ad1f860f")
        case .replayStarted: (.notice, "3ad74965485a4b94a5587d7890f92af7")
        case .replayFinished: (.notice, "4987b2c1a2aa43658bd33f553caedff9")
        case .replayIncomplete: (.error, "7f0c5b1a9d4e4c6f8a3b2e1d0c9f8a7b")
        case .dataReturned: (.critical, "5d0e6f9c2b7a4c0f9a3d41e8b6527c1f")
        case .recheckOverdue: (.error, "c1f84b3a90de4e6bb2a7750d8e19f364")
        case .recheckClosed: (.info, "0b6de7f4a85c4d1e93f2c60a7d4e8b15")
        case .requestAccepted: (.info, "e5296feff34d4b65a1db41d0a94dac7b")
        case .requestRejected: (.warning, "ca13d85f3d1441a9859a72fa3f77497d")
        case .requestCompleted: (.notice, "a9fdf936c46b495986afb065df72a6b0")
        case .nothingErased: (.warning, "a7465c2c579c409cb74334f71f7372ff")
        case .requestCancelled: (.notice, "b1ff9d2416bd4375a3cb2fdd18d0612d")
        case .requestParked: (.warning, "f3a39d99fc1c40178552b3ca144205ee")
        case .requestReleased: (.notice, "41088db72f4c44a6a5c750ce770cc443")
        case .requestQuarantined: (.error, "1edca92905d7439dbdffe2c7d4a1626c")
        case .requestAbandoned: (.notice, "3a2a1a0e85b54f0cbb909e351ef1522d")
        case .requestApproved: (.notice, "e90d8ee17c7e49ee9a9e3565b3b14763")
        case .planChanged: (.warning, "973654b974864bf3a9a590ba6ce0f44a")
        case .revocationVerdict: (.info, "427505e7ee3f478483e6342a6a35bbe3")
        case .notRevoked: (.warning, "314f33ab68f94eb78d731492306876b8")
        case .purgeStarted: (.info, "5a5f570278dc409fa7584225b6c0122d")
        case .rowsRemaining: (.error, "7fd6270d56a14a1693126d5e7a72107d")
        case .purgeBlocked: (.error, "c817ef0e047a4a4ca08f22e25dc55753")
        case .deadlineNear: (.warning, "5064b2660df943bda3a3cf56c02c01c9")
        case .deadlinePassed: (.error, "db45632ebe6a448db679cda9b258232d")
        case .guardTripped: (.critical, "7e776aebbe84468991a8cb9310faf336")
        case .guardOverridden: (.warning, "1d97b11f48dd4b80aee292626ee91c3e")
        case .providerPaused: (.error, "e80854a3a39d48bb84f26b164ca25fe4")
        case .providerResumed: (.notice, "489ea9b2df1143fdab84996c7f6d23d0")
        case .outageBegan: (.warning, "2b8f7557dbf34a9ca8b3449c05e3cd48")
        case .outageEnded: (.notice, "7ad3b0f1e17f4b949dd8ac68e0ea579d")
        case .providerNotified: (.notice, "98ecfa3d2fbe47a19e6961f103c16351")
        case .notificationReported: (.warning, "72ed07e086c04624b47c00129388234c")
        case .notificationRefused: (.warning, "a0c9ac1af8d948439c72f42bd8baae81")
        case .notificationPollFailed: (.warning, "8a5ae95928d94a228443ca70f1747b7e")
        case .storePaused: (.error, "6c832afe015c42dd9e7699d6fd23c7d9")
        case .storeResumed: (.notice, "b2730c857be345a6997728bed75aa4d1")
        case .storeStuck: (.error, "5f63064738fe44d3a45c9a67b9aeb31c")
        case .storeGoesOn: (.notice, "8efaea10d7714db696c372bf135f7770")
        case .componentUnfit: (.error, "d1b4564c8a694fb0bde441713ce56864")
        case .spoolQuarantined: (.error, "723b1dce17494fe4848da76d0ceff044")
        case .spoolUnwritable: (.error, "b8199784383f42328bd9d99990f518b5")
        case .spoolForeignObjects: (.warning, "82d4e89f8709496d83dce2f2621aaf4a")
        case .spoolUnreadableRows: (.warning, "6e9b8c825a314e21b0f922cd0f938c93")
        case .spoolBack: (.notice, "5b9efd6bc73c4732a19ef07b319a248c")
        case .spoolReplaced: (.warning, "fa88d1e8922f4fc5b1bd53fefb0f129e")
        case .spoolInWAL: (.warning, "0e67c2c3a69548fea661647ad7d5f936")
        case .unreadSources: (.error, "41caf9fd6bcb4fc4bd85f829c53a7b75")
        case .queueQuarantined: (.error, "7b4d79f247814c20a16489a4e878d8b9")
        case .queueUnwritable: (.error, "3ddbfc47e6e443eb9d3a40314b07a13f")
        case .queueIrregular: (.warning, "89a2a1417f124add981cc676f6562bca")
        case .queueBack: (.notice, "50a6ccc4963d4ee7a2f035a2026314f4")
        case .messagesFailing: (.warning, "795bd6d8011f405ab9b65af27ed2c3b6")
        case .messagesDelivered: (.notice, "d3f3afb2e68a4159873943bfe8148cf8")
        case .messagesGivenUp: (.error, "142b1ad697bc41a29883c22d0835ee21")
        case .messagesDropped: (.error, "4f2d715049914808ba219c900077a9f5")
        case .recipientsRefused: (.warning, "e65873a52a7e402f81dca3d78b091dd7")
        case .clockStepped: (.warning, "af97de27439b497ea719658db6c9c3de")
        case .clockBehind: (.error, "c8dda9bf20184da6bc9e8c1e3f2eaf80")
        }
    }
}

extension String {
    /// The name as manuals and columns write it: `spoolInWAL` is `spool_in_wal`.
    package var snakeCased: String {
        var text = ""
        for character in self {
            if character.isUppercase, text.last?.isLowercase ?? false { text += "_" }
            text.append(character)
        }
        return text.lowercased()
    }
}
