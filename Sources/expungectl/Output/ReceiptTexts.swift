import Lifecycle

/// What receipts say in their languages, from `receipts.txt`.
enum ReceiptTexts {
    /// By the names of that file.
    static let all = MessageLanguage.texts(
        in: String(decoding: PackageResources.receipts_txt, as: UTF8.self)
    )

    /// The sentence about copies with its name; `nil` in English, and for an id without
    /// translations.
    ///
    /// By the ids of the phrases of all kinds of stores: this program links no store.
    static func copy(_ id: String, _ name: String?, in language: MessageLanguage) -> String? {
        all["copy \(id)"]?[language].map { ResidualPhrase.filled($0, name) }
    }
}

/// The fixed texts of a receipt page, which ``ReceiptTexts`` has.
enum ReceiptPhrase: String, CaseIterable {
    case title, revocationTitle, request, issued, requested, begun, completed, responsible, contact
    case summary, erasedFrom, nothingNewer, notSearched, notExamined, noStore, notErasedSince
    case linksCut, linksLeft, noLinks, unreadSources
    case keptSome, copiesUntil, copiesUnknown, dataReturned
    case links, service, result, date, whatYouCanDo, removeAccess
    case proven, accepted, unconfirmed, alreadyGone, tokenDead, nothingToRevoke, manual, unrevoked
    case abandoned, cut, notCut
    case promised, acceptedLater
    case erased, store, content, action, count, verified, notVerified, deleted, anonymized, atLeast
    case kept, why, nothingKept
    case copies, backups, storeCopies, until, unknown, noCopies, allCopiesGone
    case recipients, recipient, purpose
    case rechecks, outcome, clean, returned, unverified, unreadable, ended, nextRecheck, noRecheck
    case later, laterIntroduction, decisions, abandonedBy, forgottenBy, rechecksEndedBy, approvedBy
    case scopeStores, scopeOthers, scopeCopies, scopeProofs, scopeLate
    case notCovered, verification, verificationHow, key, entries, data

    /// What the service says that a receipt does not cover.
    static let scope: [ReceiptPhrase] = [.scopeStores, .scopeOthers, .scopeCopies, .scopeProofs]

    func text(in language: MessageLanguage) -> String {
        ReceiptTexts.all[rawValue]?[language] ?? rawValue
    }
}

extension ReceiptSentence {
    /// The sentence in the page's language.
    func text(in language: MessageLanguage) -> String {
        ReceiptTexts.all["sentence \(rawValue)"]?[language] ?? text
    }
}
