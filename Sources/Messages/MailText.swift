package import Lifecycle

/// What an alarm and a confirmation say.
package enum MailText {
    /// The texts of a confirmation, by their names.
    static let confirmations = MessageLanguage.texts(
        in: String(decoding: PackageResources.confirmations_txt, as: UTF8.self)
    )

    package static func alarm(_ message: OutgoingMessage) -> (subject: String, text: String) {
        let sentence = message.detail ?? message.subject
        var lines = [sentence, ""]
        lines.append("Event: \(message.subject) (\(message.kind))")
        lines.append("Time: \(message.occurredAt.rfc3339)")
        if let request = message.request { lines.append("Request: \(request)") }
        lines += [
            "", "Status: sudo expungectl status", "Advice: sudo journalctl -x -u expunged", "",
        ]
        return ("[expunged] \(message.kind): \(sentence)", lines.joined(separator: "\n"))
    }

    /// What the receipt of a request says in short.
    package struct Confirmation: Hashable, Sendable {
        package var request: RequestID
        package var completedAt: WallTime
        /// Providers where the link was cut.
        package var revoked: [String] = []
        /// Providers where the user can cut the link by hand.
        package var open: [String] = []
        package var controller: String?
        package var contact: String?

        package init(request: RequestID, completedAt: WallTime) {
            (self.request, self.completedAt) = (request, completedAt)
        }
    }

    package static func confirmation(
        _ facts: Confirmation,
        in language: MessageLanguage
    ) -> (subject: String, text: String) {
        func words(_ name: String) -> String { confirmations[name]?[language] ?? name }
        let time = facts.completedAt.rfc3339
        let day = "\(time.prefix(10)) \(time.dropFirst(11).prefix(5)) UTC"
        var parts = [words("greeting"), words("erased").replacing("{time}", with: day)]
        func list(_ heading: String, _ items: [String]) {
            guard !items.isEmpty else { return }
            parts.append(heading + items.map { "\n  - \($0)" }.joined())
        }
        list(words("revoked"), facts.revoked)
        list(words("open"), facts.open)
        parts.append(words("request").replacing("{id}", with: facts.request.description))
        let sender = [facts.controller, facts.contact].compactMap { $0 }
        if !sender.isEmpty {
            parts.append(words("contact") + "\n  " + sender.joined(separator: "\n  "))
        }
        parts.append(words("address"))
        return (words("subject"), parts.joined(separator: "\n\n") + "\n")
    }
}
