import Control
import Daemon
import Encoding
import Lifecycle
import Testing

@testable import expungectl

extension ControlSuite {
    @Suite struct ReceiptPageTests {
        private static let hostile = "<script src=//x>'\"&\u{202e}\u{1b}[31m"

        /// A receipt with a hostile text in every place that holds one.
        private static var receipt: JSONValue {
            .object([
                .init("request_id", .string("r-1")),
                .init("summary", .string(hostile)),
                .init(
                    "identities",
                    .array([
                        .object([
                            .init("provider", .string(hostile)),
                            .init("verdict", .string("unrevoked")),
                            .init("revoked", .bool(false)),
                            .init("evidence", .string(hostile)),
                            .init(
                                "user_action",
                                .object([
                                    .init("url", .string(hostile)), .init("text", .string("t")),
                                ])
                            ),
                        ])
                    ])
                ),
                .init(
                    "stores",
                    .array([
                        .object([
                            .init("store", .string(hostile)),
                            .init("verified", .bool(true)),
                            .init("erasure_horizon", .string("2027-01-01T00:00:00.000Z")),
                            .init(
                                "tables",
                                .array([
                                    .object([
                                        .init("table", .string(hostile)),
                                        .init("rows", .integer(3)),
                                    ])
                                ])
                            ),
                        ])
                    ])
                ),
                .init("not_in_scope", .array([.string(hostile)])),
                .init("ledger", .object([.init("checkpoint", .string(hostile))])),
            ])
        }

        @Test func `a page shows what the receipt says and lets no text become markup`() {
            let page = ReceiptPage(receipt: Self.receipt).html
            #expect(page.contains("&lt;script src=//x&gt;&#39;&quot;&amp;"))
            #expect(!page.contains("<script"))
            #expect(!page.unicodeScalars.contains { $0 == "\u{202e}" || $0 == "\u{1b}" })
            #expect(page.contains("<span class=\"no\">NOT cut</span>"))
            #expect(page.contains("2027-01-01 "))
            // An index of the ledger stays on one line beside an entry that breaks anywhere.
            #expect(page.contains(".proof td:first-child { white-space: nowrap }"))
        }

        @Test func `where a purge broke off its counts are the least that went`() {
            func page(_ action: String) -> String {
                let entry = JSONValue.object([
                    .init("action", .string(action)), .init("rows", .integer(7)),
                ])
                let store = JSONValue.object([
                    .init("counts", .string("at_least")), .init("tables", .array([entry])),
                ])
                let receipt = JSONValue.object([.init("stores", .array([store]))])
                return ReceiptPage(receipt: receipt).html
            }
            #expect(page("delete").contains(">at least 7</td>"))
            #expect(!page("keep").contains("at least"))
            #expect(!ReceiptPage(receipt: Self.receipt).html.contains("at least"))
        }

        @Test func `every phrase stands in every language, with the same places to fill in`() {
            for phrase in ReceiptPhrase.allCases {
                let languages = ReceiptTexts.all[phrase.rawValue] ?? [:]
                let texts = MessageLanguage.allCases.map { languages[$0] ?? "" }
                let places = Set(texts.map { $0.count { $0 == "%" } })
                #expect(places.count == 1 && !texts.contains(""), "\(phrase)")
            }
        }

        @Test func `each name of the file of texts is known`() {
            let names =
                ReceiptPhrase.allCases.map(\.rawValue)
                + ReceiptSentence.allCases.map { "sentence \($0.rawValue)" }
                + ResidualTexts.templates.keys.map { "copy \($0)" }
            #expect(Set(ReceiptTexts.all.keys) == Set(names))
        }

        @Test(arguments: MessageLanguage.allCases)
        func `a page in another language says the same`(language: MessageLanguage) {
            let page = ReceiptPage(receipt: Self.receipt, language: language).html
            #expect(page.contains("<html lang=\"\(language.rawValue)\">"))
            #expect(page.contains(ReceiptPhrase.notCut.text(in: language)))
            let meaning = ReceiptPhrase.unrevoked.text(in: language)
            #expect(page.contains(meaning) || language == .english)
            #expect(!page.contains("<script"))
        }

        @Test(arguments: [
            #"{"identities": [{"provider": "p", "verdict": "proven", "revoked": true}], "addenda":"#
                + #"[{"provider": "p", "event": "credential_refused"}]}"#,
            #"{"identities": [{"provider": "p", "verdict": "nothing_to_revoke","#
                + #" "revoked": false}]}"#,
            #"{"identities": [{"provider": "p", "verdict": "unconfirmed", "revoked": false}]}"#,
            #"{"identities": [{"provider": "p", "verdict": "accepted"}]}"#,
            #"{"identities": [], "forgotten": [{"provider": "p", "uid": 1}]}"#,
            #"{"identities": []}"#,
        ])
        func `no language says that every link is cut where the receipt does not`(json: String) {
            let receipt = JSONValue(Array(json.utf8)) ?? .null
            for language in MessageLanguage.allCases where language != .english {
                let page = ReceiptPage(receipt: receipt, language: language).html
                #expect(!page.contains(ReceiptPhrase.linksCut.text(in: language)), "\(language)")
            }
        }

        @Test func `every sentence about copies speaks every language, with its name`() throws {
            for (id, template) in ResidualTexts.templates {
                let translations = try #require(ReceiptTexts.all["copy \(id)"], "\(id)")
                let texts = [template] + translations.values
                #expect(texts.count == MessageLanguage.allCases.count, "\(id)")
                #expect(Set(texts).count == texts.count, "\(id)")
                let places = Set(texts.map { $0.split(separator: "%").count })
                #expect(places.count == 1, "\(id)")
                let copy: JSONValue = [
                    "what": .string(template), "phrase": .string(id), "name": "<b>",
                ]
                let part: JSONValue = ["store": "db", "residual_copies": .array([copy])]
                let page = ReceiptPage(
                    receipt: ["stores": .array([part])],
                    language: .german
                ).html
                let german = try #require(translations[.german])
                #expect(page.contains(german.replacing("%", with: "&lt;b&gt;")))
            }
        }

        @Test func `a store that came too late is named in the page's language`() {
            let line = "the store 'late-db': it was configured when the purge had begun already"
            let receipt: JSONValue = ["not_in_scope": .array([.string(line)])]
            let page = ReceiptPage(receipt: receipt, language: .french).html
            #expect(page.contains("le stockage « late-db » : il a été connecté"))
        }

        @Test func `stores that came too late are in the summary of every language`() {
            let receipt: JSONValue = [
                "identities": .array([]),
                "not_in_scope": .array([.string("the store 'late': it was configured later")]),
            ]
            for language in MessageLanguage.allCases where language != .english {
                let page = ReceiptPage(receipt: receipt, language: language).html
                #expect(page.contains(ReceiptPhrase.notErasedSince.text(in: language)))
            }
        }

        @Test func `a page needs nothing from elsewhere and runs nothing`() {
            let page = ReceiptPage(receipt: .object([.init("request_id", .string("r"))])).html
            for word in ["http://", "https://", "<link", "<img", "<script", "@import", "url("] {
                #expect(!page.contains(word), "\(word)")
            }
            #expect(page.contains("default-src 'none'"))
            #expect(page.contains("@media print"))
        }
    }
}
