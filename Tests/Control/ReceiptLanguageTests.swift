import Control
import Daemon
import Encoding
import Lifecycle
import Testing

@testable import expungectl

extension ControlSuite {
    /// No text of the service stands in English on a page in another language.
    @Suite struct ReceiptLanguageTests {
        private static let otherLanguages = MessageLanguage.allCases.filter { $0 != .english }
        private static let time: JSONValue = "2027-01-01T00:00:00.000Z"
        private static let actionText = "Open Settings, choose the app and tap Stop Using."

        private static var identities: JSONValue {
            .array(
                Verdict.allCases.map { verdict -> JSONValue in
                    [
                        "provider": "p", "client_id": "c", "verdict": .string(verdict.rawValue),
                        "revoked": .bool(verdict.isRevoked), "evidence": "An English sentence.",
                        "decided_at": time,
                        "user_action": ["url": "u", "text": .string(actionText)],
                    ]
                }
            )
        }

        private static var stores: JSONValue {
            let copies = ResidualTexts.templates.map { id, template -> JSONValue in
                let text = ResidualPhrase.filled(template, "7")
                return [
                    "what": .string(text), "phrase": .string(id), "name": "7", "until": time,
                ]
            }
            let actions: [PurgeCounts.Action] = [
                .held, .shared, .accepted, .passedOver(.hiddenFolder), .rule(.delete),
                .rule(.anonymize), .rule(.keep),
            ]
            let tables = actions.map { action -> JSONValue in
                ["table": "t", "action": .string(action.code.rawValue), "rows": 3]
            }
            return [
                [
                    "store": "a", "verified": true, "verified_at": time, "counts": "at_least",
                    "tables": .array(tables), "residual_copies": .array(copies),
                    "backups_kept_until": time, "erasure_horizon": time,
                ],
                ["store": "b", "not_looked_for": "no key led into this store"],
                ["store": "c", "accepted_until": time],
                [
                    "store": "d", "verified": true,
                    "tables": [["table": "t", "rows": 0, "newer_rows": 2]],
                ],
            ]
        }

        private static var notErased: JSONValue {
            let sentences = ReceiptSentence.allCases.map { ($0.rawValue, $0.text) }
            let rules = [("anonymize", "anonymized: AO 147"), ("keep", "kept: AO 147")]
            return .array(
                (sentences + rules).map { phrase, reason -> JSONValue in
                    [
                        "store": "a", "table": "t", "rows": 1, "reason": .string(reason),
                        "phrase": .string(phrase), "name": "AO 147",
                    ]
                }
            )
        }

        /// With every text that the service has for one.
        private static var receipt: JSONValue {
            let scope =
                ReceiptPhrase.scope.map { $0.text(in: .english) } + [
                    "the store 'late': it was configured when the purge had begun already"
                ]
            let known: [ReceiptSentence] = [.linkCut, .credentialRefused]
            let addenda = known.map { sentence -> JSONValue in
                [
                    "provider": "p", "event": .string(sentence.rawValue),
                    "evidence": .string(sentence.text), "occurred_at": time,
                ]
            }
            let rechecks = ["clean", "returned", "unverified", "unreadable", "abandoned"].map {
                outcome -> JSONValue in ["at": time, "outcome": .string(outcome)]
            }
            return [
                "request_id": "r", "kind": "delete_account", "summary": "An English sentence.",
                "created_at": time, "purge_started_at": time, "completed_at": time,
                "controller": ["name": "N", "contact": "C"], "identities": identities,
                "stores": stores, "not_erased": notErased, "erasure_horizon": time,
                "not_in_scope": .array(scope.map { .string($0) }), "addenda": .array(addenda),
                "rechecks": .array(rechecks), "next_recheck_at": time, "data_returned_at": time,
                "recipients": [["name": "N", "contact": "C", "purpose": "P"]],
                "approval": ["uid": 1, "at": time], "unread_sources": ["spool"],
                "abandoned": ["uid": 1, "reason": "R"],
                "rechecks_abandoned": ["uid": 1, "reason": "R"],
                "forgotten": [["provider": "p", "uid": 1, "at": time]],
                "ledger": ["key": "k", "checkpoint": "c"],
            ]
        }

        /// What a reader sees: without the data for programs, which stays as it was signed.
        private static func visible(_ language: MessageLanguage) -> String {
            let issuedAt = WallTime(unixMilliseconds: 1000)
            let page = ReceiptPage(receipt: receipt, language: language, issuedAt: issuedAt).html
            return page.split(separator: "<pre class=\"data\">").first.map(String.init) ?? ""
        }

        /// The pieces between the places that are filled in.
        private static func pieces(_ text: String) -> [String] {
            ReceiptPage.escaped(text).split(separator: "%").map(String.init)
        }

        @Test func `the page in English has nearly every phrase, so the receipt is a whole one`() {
            let page = Self.visible(.english)
            // The service's own summary stands for those of the page.
            let replaced: Set<ReceiptPhrase> = [
                .summary, .erasedFrom, .nothingNewer, .noStore, .notErasedSince, .linksCut,
                .linksLeft, .noLinks, .unreadSources, .copiesUnknown, .dataReturned, .promised,
                .proven, .accepted, .unconfirmed, .alreadyGone, .tokenDead, .manual, .unrevoked,
                .abandoned, .removeAccess, .revocationTitle, .nothingKept,
                .noCopies, .unknown, .noRecheck, .key, .notExamined,
            ]
            for phrase in ReceiptPhrase.allCases where !replaced.contains(phrase) {
                for piece in Self.pieces(phrase.text(in: .english)) {
                    #expect(page.contains(piece), "\(phrase): \(piece)")
                }
            }
            for sentence in ReceiptSentence.allCases {
                #expect(page.contains(ReceiptPage.escaped(sentence.text)), "\(sentence)")
            }
            for template in ResidualTexts.templates.values {
                for piece in Self.pieces(template) { #expect(page.contains(piece)) }
            }
            #expect(page.contains(Self.actionText))
        }

        @Test(arguments: otherLanguages)
        func `no English sentence stands on a page in another language`(
            _ language: MessageLanguage
        ) {
            let page = Self.visible(language)
            // A single word may be the same in both.
            let phrases = ReceiptPhrase.allCases.filter {
                $0.text(in: .english) != $0.text(in: language)
            }
            let texts =
                phrases.map { $0.text(in: .english) } + ResidualTexts.templates.values
                + ReceiptSentence.allCases.map(\.text)
                + [Self.actionText, "An English sentence.", "anonymized: ", "kept: ", "newer than"]
            for piece in texts.flatMap(Self.pieces) where piece.contains(" ") && piece.count > 5 {
                #expect(!page.contains(piece), "'\(piece)' in \(language)")
            }
            for sentence in ReceiptSentence.allCases {
                #expect(page.contains(ReceiptPage.escaped(sentence.text(in: language))))
            }
            for phrase in [ReceiptPhrase.removeAccess, .unreadSources] {
                let text = ReceiptPage.escaped(phrase.text(in: language))
                #expect(page.contains(text.replacing("%", with: "spool")))
            }
        }

        @Test func `every sentence of the service speaks every language`() {
            for sentence in ReceiptSentence.allCases {
                let texts = MessageLanguage.allCases.map { sentence.text(in: $0) }
                #expect(Set(texts).count == texts.count && !texts.contains(""), "\(sentence)")
            }
        }

        @Test func `a table where nothing led to the user's rows is named as not searched`() {
            let receipt: JSONValue = [
                "stores": [
                    [
                        "store": "app-db", "verified": false, "not_looked_for": "gone",
                        "tables": [
                            ["table": "letters", "action": "delete", "rows": 0, "newer_rows": 0],
                            ["table": "letters", "action": "unreached", "rows": 0],
                        ],
                    ]
                ]
            ]
            for language in MessageLanguage.allCases {
                let page = ReceiptPage(receipt: receipt, language: language).html
                let text = ReceiptPhrase.notSearched.text(in: language)
                let sentence = ReceiptPage.escaped(text).replacing("%", with: "app-db (letters)")
                #expect(page.contains(sentence), "\(language)")
            }
        }

        @Test(arguments: otherLanguages)
        func `erased is what was verified, unless all of it is newer`(
            _ language: MessageLanguage
        ) {
            let gone: JSONValue = ["table": "t", "action": "delete", "rows": 1, "newer_rows": 0]
            let left: JSONValue = [
                "table": "t", "action": "passed_over", "rows": 3, "newer_rows": 0,
            ]
            let newer: JSONValue = ["table": "u", "action": "delete", "rows": 0, "newer_rows": 2]
            let both = JSONValue.array([left, newer])
            let stores: [JSONValue] = [
                ["store": "a", "verified": true, "tables": [gone]],
                ["store": "b", "verified": true, "tables": both],
                ["store": "c", "verified": false, "not_looked_for": "gone", "tables": both],
                ["store": "d", "verified": true, "counts": "at_least", "tables": [newer]],
                ["store": "e", "verified": false, "tables": [gone]],
            ]
            let page = ReceiptPage(receipt: ["stores": .array(stores)], language: language).html
            let cases: [(ReceiptPhrase, String)] = [
                (.erasedFrom, "a, d"), (.nothingNewer, "b"), (.notSearched, "c"),
            ]
            for (phrase, names) in cases {
                let text = ReceiptPage.escaped(phrase.text(in: language))
                #expect(page.contains(text.replacing("%", with: names)), "\(phrase)")
            }
        }

        @Test func `what no rule reaches is named, and so is a store that was not examined`() {
            let receipt: JSONValue = [
                "identities": [],
                "stores": [
                    [
                        "store": "app-db", "verified": true, "searched_on": "2027-01-15",
                        "unmapped": ["logs.actor"], "unmapped_more": 2,
                        "unexamined": ["letters"], "unexamined_more": 0, "tables": [],
                    ],
                    ["store": "files", "verified": true, "tables": []],
                    ["store": "crm", "verified": true, "searchable": false, "tables": []],
                ],
            ]
            for language in MessageLanguage.allCases {
                let page = ReceiptPage(receipt: receipt, language: language).html
                func has(_ phrase: ReceiptPhrase, _ value: String) -> Bool {
                    let text = ReceiptPage.escaped(phrase.text(in: language))
                    return page.contains(text.replacing("%", with: value))
                }
                let more = "+2 (expungectl stores check)"
                #expect(has(.notSearched, "app-db (logs.actor, \(more))"), "\(language)")
                #expect(has(.notExamined, "app-db (letters)"), "\(language)")
                // The service's own summary has it in English.
                let both = has(.notExamined, "app-db (letters), files")
                #expect(both == (language != .english), "\(language)")
                #expect(has(.erasedFrom, "app-db, files, crm") == (language != .english))
            }
        }

        @Test func `what the operator wrote stays as it is`() {
            let action: JSONValue = ["url": "u", "text": "Ask us.", "configured": true]
            let identity: JSONValue = [
                "provider": "p", "verdict": "manual", "revoked": false, "user_action": action,
            ]
            let receipt: JSONValue = [
                "identities": [identity],
                "not_erased": [
                    [
                        "store": "a", "table": "t", "columns": ["b", "c"], "rows": 1,
                        "reason": "kept: § 147", "phrase": "keep", "name": "§ 147",
                    ]
                ],
            ]
            let page = ReceiptPage(receipt: receipt, language: .german).html
            #expect(page.contains("Ask us. <code>u</code>") && page.contains("§ 147</td>"))
            #expect(page.contains(">t (b, c)</td>"))
        }
    }
}
