import Lifecycle

/// The sentence of an entry: the template of its event, filled with the entry's fields.
enum JournalMessage {
    /// A field that the template needs and the entry lacks is a question mark.
    static func text(of event: JournalEvent, _ fields: [LogEntry.Field]) -> String {
        var text = ""
        // Each piece but the first begins with an optional part.
        for (index, piece) in split(event.template, at: "[").enumerated() {
            guard index > 0 else {
                text += filled(piece, event, fields, orElse: "?") ?? ""
                continue
            }
            let halves = split(piece, at: "]")
            text += filled(halves[0], event, fields, orElse: nil) ?? ""
            text += filled(halves[1], event, fields, orElse: "?") ?? ""
        }
        return text
    }

    private static func filled(
        _ part: Substring,
        _ event: JournalEvent,
        _ fields: [LogEntry.Field],
        orElse missing: String?
    ) -> String? {
        var text = ""
        for (index, piece) in split(part, at: "{").enumerated() {
            guard index > 0 else {
                text += piece
                continue
            }
            let halves = split(piece, at: "}")
            guard let value = shown(halves[0], event, fields) ?? missing else { return nil }
            text += value
            text += halves[1]
        }
        return text
    }

    /// `placeholder` is a field, and how to show it.
    private static func shown(
        _ placeholder: Substring,
        _ event: JournalEvent,
        _ fields: [LogEntry.Field]
    ) -> String? {
        let words = placeholder.split(separator: " ", maxSplits: 1)
        guard let field = fields.first(where: { words[0] == $0.name.rawValue }),
            !field.value.isEmpty
        else { return nil }
        switch (field.name, words.dropFirst().first) {
        case (_, "as words"?): return inWords(field.value, of: event)
        case (_, let noun?): return "\(field.value) \(noun)\(field.value == "1" ? "" : "s")"
        // Enough of the id for expungectl, and still readable.
        case (.requestID, nil): return String(field.value.prefix(RequestID.shortLength))
        case (.durationMilliseconds, nil): return "\((Int(field.value) ?? 0) / 1000) s"
        case (_, nil): return field.value
        }
    }

    private static func inWords(_ code: String, of event: JournalEvent) -> String {
        let isCode = code.allSatisfy {
            $0 == "_" || $0.isASCII && ($0.isLowercase || $0.isWholeNumber)
        }
        guard isCode else { return code }
        return words["\(event.name).\(code)"] ?? words[code] ?? code.replacing("_", with: " ")
    }

    private static func split(_ text: some StringProtocol, at mark: Character) -> [Substring] {
        text.split(separator: mark, omittingEmptySubsequences: false).map { Substring($0) }
    }

    /// By code, or by event and code; a code that is not here says enough by itself.
    private static let words = [
        // ParkReason
        "needs_reauthentication": "the user must sign in again",
        "request_parked.unknown_provider": "the configuration lacks a provider",
        "vault_sealed": "the vault is sealed",
        "on_hold": "it is on hold",
        "awaiting_approval": "an operator must approve its plan",
        "shared_identity": "several users share the identity",
        "awaiting_spool": "the spool has not been read",
        "awaiting_credentials": "a credential in the spool cannot be sealed",
        "without_keys": "no key leads into a store",
        // Verdict
        "proven": "revoked and proven",
        "accepted": "revoked, as the provider says",
        "unconfirmed": "revocation not confirmed",
        "already_gone": "link already gone",
        "token_dead": "every stored token is dead",
        "manual": "the user must remove the link",
        "unrevoked": "no usable credential arrived in time",
        "abandoned": "an operator gave up",
        // VaultError.Kind
        "seal_broken": "the seal is broken",
        "unknown_vault_key": "its vault key is not loaded",
        "vault_key_exhausted": "the vault key is used up",
        "crypto_library": "the cryptographic library failed",
        // SpoolFailure
        "spool_quarantined.refused": "its file or journal is unsafe",
        "in_wal": "an application keeps it in WAL mode",
        "large_wal": "its WAL is too large",
        "corrupt": "damaged, or no database",
        "wrong_schema": "its tables are not those of the schema",
        "newer_version": "its schema is of a newer version",
        "unopenable": "it cannot be opened",
        "io_error": "I/O error",
        "locked": "another process holds its lock",
        "slow": "the disk is too slow",
        "queue_quarantined.unreachable": "its server does not answer",
        "queue_quarantined.tls": "it offers no TLS, or its certificate is not trusted",
        "queue_quarantined.denied": "its server refuses the log-in or a right",
        "queue_quarantined.bad_credential": "its credential cannot be used",
        "queue_quarantined.slow": "its server is too slow",
        "queue_unwritable.denied": "its server refuses a right",
        "queue_unwritable.slow": "its server is too slow",
        // CrashMarker.End, CodeExchange.Phase
        "own_crash": "it crashed",
        "bus_error": "a file or its disk failed",
        "killed": "it was killed",
        "code_expired.refused": "the provider refused it",
        "code_expired.unknown": "the provider did not answer",
        "code_expired.expired": "it expired",
        // NotificationEffect, pauses
        "reported": "the policy is to report it",
        "misconfigured": "it refuses the service itself",
        "store_paused.misconfigured": "it does not fit its configuration",
        // MessageFailure
        "messages_failing.refused": "it refuses them",
        "messages_given_up.refused": "it refuses them",
        "messages_failing.unreachable": "no connection, or no certificate for its host",
        "messages_failing.lost": "no answer in time",
        "messages_failing.redirected": "it answers with a redirect",
        "messages_failing.misconfigured": "a credential, file or program cannot be used",
        "messages_given_up.rejected": "the mail server refuses the address or the message",
        "private_address": "its address is private, which allow_private_addresses forbids",
        "address_lost": "the address of the user cannot be opened",
        "out_of_time": "retry_for is over",
        // Steps
        "open_user_id": "opening a user id for a provider",
        "keep_found_ids": "keeping ids that a recheck found",
        "keep_keys": "keeping ids of other stores",
        "read_checkpoints": "a replay",
        "search_for_erased": "the search for erased users",
        "seal_recheck": "sealing a recheck record",
    ]
}

/// The facts that a journal entry may carry.
///
/// The list is closed: other metadata of a library could hold a user id or a token.
package enum JournalField: String, Sendable, CaseIterable {
    case requestID = "request.id"
    case provider
    case store
    case subscriber
    case step
    case state
    case verdict
    case attempt
    case count
    case durationMilliseconds = "duration_ms"
    /// The login uid of the operator who acts, else that of the process.
    case operatorUID = "operator.uid"
    /// Of the application that acts.
    case peerUID = "peer.uid"
    case error
    case detail

    /// Its metadata names a ``Lifecycle/JournalEvent``.
    package static let eventKey = "event"

    /// As in `journalctl EXPUNGED_REQUEST_ID=…`.
    package var journalName: String {
        "EXPUNGED_" + rawValue.replacing(".", with: "_").uppercased()
    }
}
