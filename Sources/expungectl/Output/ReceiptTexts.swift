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

extension ReceiptSentence {
    /// The sentence in the page's language.
    func text(in language: MessageLanguage) -> String {
        ReceiptTexts.all["sentence \(rawValue)"]?[language] ?? text
    }
}
