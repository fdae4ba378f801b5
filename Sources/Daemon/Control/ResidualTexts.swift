package import Lifecycle
import Stores

/// What receipts and reports say in English of copies that stay for a while.
package enum ResidualTexts {
    /// The templates of all kinds of stores, by the ids of their phrases.
    package static let templates = Dictionary(
        Kinds.stores.flatMap { $0.traits.residualPhrases.map { ($0.id, $0.template) } }
    ) { first, _ in first }

    /// An id that no kind has stands for itself: a later version wrote it.
    package static func text(of copies: PurgeCounts.ResidualCopies) -> String {
        switch copies.content {
        case .text(let text): text
        case .phrase(let id, let name): ResidualPhrase.filled(templates[id] ?? id, name)
        }
    }
}
