/// What an operator or an application may want to see in the journal.
///
/// One table holds the name, the message, the severity and the message id of each event; the texts
/// that `journalctl -x` shows are in `systemd/expunged.catalog`, which a test compares with this
/// table. An id never changes and is never used again: alerts of operators are built on it.
package enum JournalEvent: String, Sendable, CaseIterable {
    // Service
    case started, stopping, uncleanStop, configurationReloaded, configurationRefused
    case storageFailed, journalOverflow, operatorAction, intakePaused, intakeResumed

    // Vault
    case vaultSealed, vaultOpened, credentialNotSealed, codeExpired, subjectMismatch
    case tokensExpiring, keyRotationStarted, keyRotationFinished, keyRotationStopped

    // Ledger
    case ledgerCheckpoint, ledgerDamaged, stateRolledBack, rollbackAccepted, replayStarted
    case replayFinished, replayIncomplete

    // Rechecks
    case dataReturned, recheckOverdue, recheckClosed

    // Requests
    case requestAccepted, requestRejected, requestCompleted, nothingErased, requestCancelled
    case requestParked, requestReleased, requestQuarantined, requestAbandoned, requestApproved
    case planChanged, revocationVerdict, notRevoked, purgeStarted, rowsRemaining, purgeBlocked
    case deadlineNear, deadlinePassed, holdPlaced, holdReleased, guardTripped, guardOverridden

    // Providers
    case providerPaused, providerResumed, breakerOpened, breakerClosed

    // Notifications of providers
    case providerNotified, notificationReported, notificationRefused, notificationPollFailed

    // Targets
    case targetPaused, targetResumed, componentUnfit

    // Spool
    case spoolQuarantined, spoolUnwritable, spoolForeignObjects, spoolUnreadableRows, spoolBack
    case spoolReplaced, spoolInWAL, spoolNotRead

    // Clock
    case clockStepped, clockBehind
}

extension JournalEvent {
    /// How loud an event is; the names are those of syslog(3).
    package enum Severity: String, Sendable, CaseIterable {
        case info
        case notice
        case warning
        case error
        case critical
    }

    package var severity: Severity { row.severity }

    /// The static text of the entry; facts are metadata.
    package var message: String {
        switch self {
        case .started: "service started"
        case .stopping: "service stopping"
        case .uncleanStop: "recovered from an unclean stop"
        case .configurationReloaded: "configuration reloaded"
        case .configurationRefused: "configuration refused"
        case .storageFailed: "storage failed, exiting"
        case .journalOverflow: "journal entries dropped"
        case .operatorAction: "operator action"
        case .intakePaused: "intake paused"
        case .intakeResumed: "intake resumed"
        case .vaultSealed: "vault sealed"
        case .vaultOpened: "vault opened"
        case .credentialNotSealed: "credential not sealed"
        case .codeExpired: "authorization code expired before its exchange"
        case .subjectMismatch: "authorization code of another subject"
        case .tokensExpiring: "tokens about to expire"
        case .keyRotationStarted: "key rotation started"
        case .keyRotationFinished: "key rotation finished"
        case .keyRotationStopped: "key rotation stopped"
        case .ledgerCheckpoint: "ledger checkpoint"
        case .ledgerDamaged: "ledger damaged"
        case .stateRolledBack: "state rolled back"
        case .rollbackAccepted: "rollback accepted"
        case .replayStarted: "replay started"
        case .replayFinished: "replay finished"
        case .replayIncomplete: "replay incomplete"
        case .dataReturned: "erased data is back"
        case .recheckOverdue: "rechecks overdue"
        case .recheckClosed: "recheck record closed"
        case .requestAccepted: "request accepted"
        case .requestRejected: "request rejected"
        case .requestCompleted: "request completed"
        case .nothingErased: "everything was newer than the request"
        case .requestCancelled: "request cancelled"
        case .requestParked: "request parked"
        case .requestReleased: "request released"
        case .requestQuarantined: "request quarantined"
        case .requestAbandoned: "request abandoned"
        case .requestApproved: "request approved"
        case .planChanged: "approved plan changed"
        case .revocationVerdict: "revocation verdict"
        case .notRevoked: "identity not revoked"
        case .purgeStarted: "purge started"
        case .rowsRemaining: "verification found remaining rows"
        case .purgeBlocked: "store refuses to erase a user"
        case .deadlineNear: "deadline near"
        case .deadlinePassed: "deadline passed"
        case .holdPlaced: "hold placed"
        case .holdReleased: "hold released"
        case .guardTripped: "mass deletion guard tripped"
        case .guardOverridden: "mass deletion guard overridden"
        case .providerPaused: "provider paused"
        case .providerResumed: "provider resumed"
        case .breakerOpened: "provider breaker opened"
        case .breakerClosed: "provider breaker closed"
        case .providerNotified: "provider notification accepted"
        case .notificationReported: "provider notification needs an operator"
        case .notificationRefused: "provider notification refused"
        case .notificationPollFailed: "provider notifications cannot be polled"
        case .targetPaused: "target paused"
        case .targetResumed: "target resumed"
        case .componentUnfit: "provider or target cannot be used"
        case .spoolQuarantined: "spool quarantined"
        case .spoolUnwritable: "spool cannot be written"
        case .spoolForeignObjects: "foreign objects in the spool"
        case .spoolUnreadableRows: "unreadable rows in the spool"
        case .spoolBack: "spool recovered"
        case .spoolReplaced: "spool replaced or restored"
        case .spoolInWAL: "spool in WAL mode"
        case .spoolNotRead: "requests go on without the spool"
        case .clockStepped: "system clock stepped"
        case .clockBehind: "system clock behind the ledger"
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
        case .storageFailed: (.critical, "f9b08a3dbf7548689fdaec4546b60499")
        case .journalOverflow: (.warning, "21ffddc3ec7c4c468fbe73303a7698ba")
        case .operatorAction: (.notice, "40e6eb7d498a4e3cb3b495adfba086d2")
        case .intakePaused: (.warning, "1bc9c1d75bac478bab20e3955e4244a7")
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
        case .requestAbandoned: (.warning, "3a2a1a0e85b54f0cbb909e351ef1522d")
        case .requestApproved: (.notice, "e90d8ee17c7e49ee9a9e3565b3b14763")
        case .planChanged: (.warning, "973654b974864bf3a9a590ba6ce0f44a")
        case .revocationVerdict: (.info, "427505e7ee3f478483e6342a6a35bbe3")
        case .notRevoked: (.warning, "314f33ab68f94eb78d731492306876b8")
        case .purgeStarted: (.info, "5a5f570278dc409fa7584225b6c0122d")
        case .rowsRemaining: (.error, "7fd6270d56a14a1693126d5e7a72107d")
        case .purgeBlocked: (.error, "c817ef0e047a4a4ca08f22e25dc55753")
        case .deadlineNear: (.warning, "5064b2660df943bda3a3cf56c02c01c9")
        case .deadlinePassed: (.error, "db45632ebe6a448db679cda9b258232d")
        case .holdPlaced: (.notice, "19f9c7334ff44d189c4591e2e70960a1")
        case .holdReleased: (.notice, "523c14f4f883433d82dbbb9e153b731c")
        case .guardTripped: (.critical, "7e776aebbe84468991a8cb9310faf336")
        case .guardOverridden: (.warning, "1d97b11f48dd4b80aee292626ee91c3e")
        case .providerPaused: (.error, "e80854a3a39d48bb84f26b164ca25fe4")
        case .providerResumed: (.notice, "489ea9b2df1143fdab84996c7f6d23d0")
        case .breakerOpened: (.warning, "2b8f7557dbf34a9ca8b3449c05e3cd48")
        case .breakerClosed: (.notice, "7ad3b0f1e17f4b949dd8ac68e0ea579d")
        case .providerNotified: (.notice, "98ecfa3d2fbe47a19e6961f103c16351")
        case .notificationReported: (.warning, "72ed07e086c04624b47c00129388234c")
        case .notificationRefused: (.warning, "a0c9ac1af8d948439c72f42bd8baae81")
        case .notificationPollFailed: (.warning, "8a5ae95928d94a228443ca70f1747b7e")
        case .targetPaused: (.error, "6c832afe015c42dd9e7699d6fd23c7d9")
        case .targetResumed: (.notice, "b2730c857be345a6997728bed75aa4d1")
        case .componentUnfit: (.error, "d1b4564c8a694fb0bde441713ce56864")
        case .spoolQuarantined: (.error, "723b1dce17494fe4848da76d0ceff044")
        case .spoolUnwritable: (.error, "b8199784383f42328bd9d99990f518b5")
        case .spoolForeignObjects: (.warning, "82d4e89f8709496d83dce2f2621aaf4a")
        case .spoolUnreadableRows: (.warning, "6e9b8c825a314e21b0f922cd0f938c93")
        case .spoolBack: (.notice, "5b9efd6bc73c4732a19ef07b319a248c")
        case .spoolReplaced: (.warning, "fa88d1e8922f4fc5b1bd53fefb0f129e")
        case .spoolInWAL: (.warning, "0e67c2c3a69548fea661647ad7d5f936")
        case .spoolNotRead: (.error, "41caf9fd6bcb4fc4bd85f829c53a7b75")
        case .clockStepped: (.warning, "af97de27439b497ea719658db6c9c3de")
        case .clockBehind: (.error, "c8dda9bf20184da6bc9e8c1e3f2eaf80")
        }
    }
}
