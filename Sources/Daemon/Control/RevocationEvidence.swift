import Control
import Encoding
import Lifecycle

/// What a receipt says of how one revocation ended.
struct RevocationEvidence {
    let revocation: Revocation
    let verdict: Verdict

    /// The ledger signs these sentences.
    var text: String {
        var sentences = [verdictText]
        if !verdict.isRevoked { sentences += refusalTexts + unheldTexts }
        return sentences.joined(separator: " ")
    }

    private var verdictText: String {
        switch verdict {
        case .proven: proofText
        case .accepted where revocation.revokedTokens.isEmpty:
            "The provider accepted the revocation of what this user granted. There is no further"
                + " proof."
        case .accepted where revocation.revokedTokens.contains(where: \.wasSeenLive):
            "The provider accepted the revocation of a token that was seen live. There is no"
                + " further proof."
        case .accepted:
            "The provider accepted the revocation of a token, which it refuses for tokens that it"
                + " does not know. The service never saw this token live."
        case .unconfirmed where revocation.isLinked:
            "NOT confirmed: nothing shows that tokens of the account that the directory names are"
                + " revoked."
        case .unconfirmed:
            (["NOT confirmed: the provider may still honor a token."] + answerTexts)
                .joined(separator: " ")
        case .alreadyGone:
            revocation.proof == .notification
                ? "The provider sent a notification that the link was cut."
                : "The provider answered that the grant was already gone."
        case .tokenDead:
            "NOT revoked: the provider refuses every stored token. Whether the link still exists is"
                + " unknown."
        case .nothingToRevoke: "Nothing to revoke: this way to sign in has no token."
        case .manual: "NOT revoked: the provider offers no way for a service to do it."
        case .unrevoked where revocation.isRefused:
            "NOT revoked: the provider refused, and no other usable credential was found before the"
                + " deadline."
        case .unrevoked: "NOT revoked: no usable credential was found before the deadline."
        case .abandoned: "NOT revoked: an operator decided to stop."
        }
    }

    private var answerTexts: [String] {
        let answers: [(Set<CredentialStep>, String)] = [
            ([.accepted, .proven], "It accepted the revocation of %d token(s)."),
            (
                [.unconfirmed],
                "It answered success for %d token(s) that the service never saw live, as it may for"
                    + " a token that it never issued."
            ),
            ([.gone], "It answered for %d token(s) that the grant was already gone."),
            ([.dead], "It refuses %d token(s)."),
        ]
        let tokens = revocation.credentials.filter { $0.kind != .subject }
        return answers.compactMap { steps, text in
            let count = tokens.count { steps.contains($0.step) }
            return count == 0 ? nil : text.replacing("%d", with: String(count))
        }
    }

    private var proofText: String {
        switch revocation.proof {
        case .refusedAfter?:
            "The provider honored the token before the revocation and refused it after it."
        case .refusedAgain?:
            "The provider honored the token before the revocation and refused it when the service"
                + " repeated the revocation."
        case .grantGone?:
            "The provider answered that this user has no grant for this application any more."
        case .notification?:
            "The provider accepted the revocation and sent a notification that the link was cut."
        case nil: "The provider showed that the link was cut."
        }
    }

    private var refusalTexts: [String] {
        let refused = revocation.credentials.filter { $0.step == .refused }
        let groups = Dictionary(grouping: refused, by: \.refusalText)
        return groups.sorted { $0.key < $1.key }.map { text, tokens in
            let tries = tokens.reduce(0) { $0 + ($1.refusals?.count ?? 0) }
            return text.replacing("%d", with: String(tokens.count))
                .replacing("%t", with: String(tries))
        }
    }

    private var unheldTexts: [String] {
        var texts: [String] = []
        if lostCodeCount > 0 {
            texts.append(
                "The exchange of \(lostCodeCount) authorization code(s) brought no tokens: the"
                    + " provider may have issued tokens that the service never received."
            )
        }
        if revocation.refusedCount > 0 {
            texts.append(
                "The service refused to store a credential \(revocation.refusedCount) time(s): the"
                    + " provider may honor it."
            )
        }
        return texts
    }

    private var lostCodeCount: Int { revocation.credentials.count { $0.step == .lost } }
}

extension CredentialWork {
    /// What the provider refused, with places for the numbers of tokens and of tries.
    fileprivate var refusalText: String {
        let answer = refusals?.last.text ?? "no reason given"
        if needsProof {
            return "The provider accepted the revocation of %d token(s), still honored them,"
                + " and then refused %t tries: \(answer)."
        }
        return hasRevokeIntent
            ? "The provider refused to revoke %d token(s), in %t tries: \(answer)."
            : "The provider refused to check %d token(s), in %t tries: \(answer)."
    }
}

extension Revocation {
    fileprivate var isRefused: Bool { credentials.contains { $0.step == .refused } }

    fileprivate var revokedTokens: [CredentialWork] {
        credentials.filter { $0.kind != .subject && ($0.step == .accepted || $0.step == .proven) }
    }
}
