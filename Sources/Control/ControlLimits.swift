/// Bounds of the control API that server and client share.
package enum ControlLimits {
    /// The largest body of a request, in bytes: a credential of 8 KiB, escaped, fits several times.
    package static let bodyByteCountMax = 64 * 1024
    /// The deepest nesting of JSON; our own documents need four levels.
    package static let jsonDepthMax = 16
    /// Items of one page when the caller does not say.
    package static let listLimitDefault = 100
    /// The most items of one page, so that one answer stays in the low megabytes.
    package static let listLimitMax = 1000
    /// The longest idempotency key, in bytes; the spool's CHECK says the same.
    package static let idempotencyKeyByteCountMax = 255
    /// The longest secret, in bytes; the spool's CHECK says the same.
    package static let secretByteCountMax = 8192
    /// The longest client id, subject, redirect URI or cursor, in bytes.
    package static let textByteCountMax = 2048
    /// The longest time, in bytes (RFC 3339); with nanoseconds and an offset one has 35.
    static let timeByteCountMax = 64
    /// The length of a request's id, in bytes (RFC 9562).
    static let uuidByteCountMax = 36
    /// The longest reason of an operator, in bytes: a sentence and a ticket number.
    package static let reasonByteCountMax = 200
    /// The longest name of a table with its column, in bytes: 257 characters of four.
    package static let columnByteCountMax = 1028
    /// The most conditions of one hold: each becomes a part of every statement of a purge.
    package static let conditionsMax = 32
    /// The most deletions that one override lets through; more than any backlog seen.
    package static let overrideMax: Int64 = 10_000_000
    /// The most stores of a configuration.
    package static let storesMax = 256
    /// The most sentences about one refused reload.
    package static let reloadErrorsMax = 256
    /// The most findings of one look at the ledger.
    package static let ledgerFindingsMax = 100
    /// The longest answer that the client reads, in bytes: a page of the longest list.
    package static let answerByteCountMax = 16 * 1024 * 1024
}
