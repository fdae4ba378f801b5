import Lifecycle

/// The credentials of a revocation as one column: they are always read and written together.
///
/// One credential is `id kind step flags live refresh refusals`, credentials are separated by `;`.
/// Flags are `R` (has a revoke intent), `L` (was live), `P` (needs proof), `F` (is being
/// refreshed), `D` (is in doubt) and `E` (is of an earlier grant). Refusals are
/// `count:time:status:error`, where status and error may be empty. A missing value is `-`:
/// `12 refresh_token revoking RL 1789000000000 - -`.
enum CredentialWorkText {
    static func encode(_ credentials: [CredentialWork]) -> String {
        var text = ""
        text.reserveCapacity(credentials.count * 64)
        for credential in credentials {
            if !text.isEmpty { text += ";" }
            text += String(credential.id.rowID)
            text += " "
            text += credential.kind.rawValue
            text += " "
            text += credential.step.rawValue
            text += " "
            appendFlags(of: credential, to: &text)
            append(credential.lastLiveAt, to: &text)
            append(credential.lastRefreshAt, to: &text)
            append(credential.refusals, to: &text)
        }
        return text
    }

    static func decode(_ text: String) throws -> [CredentialWork] {
        try text.utf8.split(separator: UInt8(ascii: ";")).map { part in
            let fields = part.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
            guard fields.count == 7, let id = Int64(fields[0]),
                let kind = CredentialKind(rawValue: fields[1]),
                let step = CredentialStep(rawValue: fields[2]), let live = time(fields[4]),
                let refresh = time(fields[5]), let refusals = refusals(fields[6])
            else { throw StorageError.malformed("credentials") }
            return CredentialWork(
                id: CredentialID(rowID: id),
                kind: kind,
                step: step,
                hasRevokeIntent: fields[3].contains("R"),
                wasLive: fields[3].contains("L"),
                needsProof: fields[3].contains("P"),
                isRefreshing: fields[3].contains("F"),
                isInDoubt: fields[3].contains("D"),
                isOfEarlierGrant: fields[3].contains("E"),
                lastLiveAt: live,
                lastRefreshAt: refresh,
                refusals: refusals
            )
        }
    }

    private static func appendFlags(of credential: CredentialWork, to text: inout String) {
        let length = text.utf8.count
        if credential.hasRevokeIntent { text += "R" }
        if credential.wasLive { text += "L" }
        if credential.needsProof { text += "P" }
        if credential.isRefreshing { text += "F" }
        if credential.isInDoubt { text += "D" }
        if credential.isOfEarlierGrant { text += "E" }
        if text.utf8.count == length { text += "-" }
    }

    private static func append(_ time: WallTime?, to text: inout String) {
        text += " "
        text += time.map { String($0.unixMilliseconds) } ?? "-"
    }

    private static func append(_ refusals: RefusalCount?, to text: inout String) {
        text += " "
        guard let refusals else {
            text += "-"
            return
        }
        text += "\(refusals.count):\(refusals.lastAt.unixMilliseconds)"
        text += ":" + (refusals.last.status.map { String($0) } ?? "")
        text += ":" + (refusals.last.error ?? "")
    }

    /// - Returns: `nil` for what are neither refusals nor missing.
    private static func refusals(_ text: String) -> RefusalCount?? {
        guard text != "-" else { return .some(nil) }
        let fields = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 4, let count = Int(fields[0]), let time = Int64(fields[1]) else {
            return nil
        }
        return .some(
            RefusalCount(
                count: count,
                lastAt: WallTime(unixMilliseconds: time),
                last: Refusal(status: Int(fields[2]), error: fields[3])
            )
        )
    }

    /// - Returns: `nil` for what is neither a time nor missing.
    private static func time(_ text: String) -> WallTime?? {
        guard text != "-" else { return .some(nil) }
        return Int64(text).map { .some(WallTime(unixMilliseconds: $0)) }
    }
}
