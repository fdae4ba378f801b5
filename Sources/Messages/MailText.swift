package import Lifecycle

/// What an alarm and a confirmation say.
package enum MailText {
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
        /// What is kept, with its reason.
        package var kept: [String] = []
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
        let words = ConfirmationWords.of(language)
        let time = facts.completedAt.rfc3339
        let day = "\(time.prefix(10)) \(time.dropFirst(11).prefix(5)) UTC"
        var parts = [words.greeting, words.erased.replacing("{time}", with: day)]
        func list(_ heading: String, _ items: [String]) {
            guard !items.isEmpty else { return }
            parts.append(heading + items.map { "\n  - \($0)" }.joined())
        }
        list(words.revoked, facts.revoked)
        list(words.open, facts.open)
        list(words.kept, facts.kept)
        parts.append(words.request.replacing("{id}", with: facts.request.description))
        let sender = [facts.controller, facts.contact].compactMap { $0 }
        if !sender.isEmpty {
            parts.append(words.contact + "\n  " + sender.joined(separator: "\n  "))
        }
        parts.append(words.address)
        return (words.subject, parts.joined(separator: "\n\n") + "\n")
    }
}

/// The sentences of a confirmation in one language.
struct ConfirmationWords: Hashable, Sendable {
    let subject, greeting, erased, revoked, open, kept, request, contact, address: String

    static func of(_ language: MessageLanguage) -> Self {
        switch language {
        case .english: english
        case .german: german
        case .french: french
        case .spanish: spanish
        case .italian: italian
        }
    }

    private static let english = Self(
        subject: "Your account has been deleted",
        greeting: "Hello,",
        erased: "Your account and its data have been deleted. This was completed on {time}.",
        revoked: "Your account no longer has a connection to these sign-in services:",
        open: "You can remove the connection to these sign-in services in your account there:",
        kept: "The following is kept, for this reason:",
        request: "Number of the request: {id}. Please state it if you have questions.",
        contact: "Responsible for the data:",
        address: "This is the only message to you. Your address is deleted once it is sent."
    )

    private static let german = Self(
        subject: "Ihr Konto wurde gelöscht",
        greeting: "Guten Tag,",
        erased: "Ihr Konto und seine Daten wurden gelöscht. Abgeschlossen wurde dies am {time}.",
        revoked: "Ihr Konto ist nicht mehr mit diesen Anmeldediensten verbunden:",
        open: "Die Verbindung zu diesen Anmeldediensten können Sie dort in Ihrem Konto entfernen:",
        kept: "Folgendes wird aus diesem Grund aufbewahrt:",
        request: "Nummer des Antrags: {id}. Bitte geben Sie sie bei Fragen an.",
        contact: "Verantwortlich für die Daten:",
        address: "Dies ist die einzige Nachricht an Sie. Ihre Adresse wird "
            + "nach dem Versand gelöscht."
    )

    private static let french = Self(
        subject: "Votre compte a été supprimé",
        greeting: "Bonjour,",
        erased: "Votre compte et ses données ont été supprimés. L'opération "
            + "s'est terminée le {time}.",
        revoked: "Votre compte n'est plus relié à ces services de connexion :",
        open: "Vous pouvez supprimer le lien avec ces services de "
            + "connexion dans votre compte chez eux :",
        kept: "Les données suivantes sont conservées, pour cette raison :",
        request: "Numéro de la demande : {id}. Merci de l'indiquer pour toute question.",
        contact: "Responsable des données :",
        address: "C'est le seul message qui vous est adressé. Votre adresse "
            + "est supprimée après l'envoi."
    )

    private static let spanish = Self(
        subject: "Su cuenta ha sido eliminada",
        greeting: "Hola:",
        erased: "Su cuenta y sus datos han sido eliminados. El proceso terminó el {time}.",
        revoked: "Su cuenta ya no está vinculada a estos servicios de inicio de sesión:",
        open: "Puede quitar el vínculo con estos servicios de inicio de "
            + "sesión en su cuenta de ellos:",
        kept: "Lo siguiente se conserva, por este motivo:",
        request: "Número de la solicitud: {id}. Indíquelo si tiene preguntas.",
        contact: "Responsable de los datos:",
        address: "Este es el único mensaje para usted. Su dirección se elimina después del envío."
    )

    private static let italian = Self(
        subject: "Il suo account è stato eliminato",
        greeting: "Buongiorno,",
        erased: "Il suo account e i relativi dati sono stati eliminati. "
            + "L'operazione è terminata il {time}.",
        revoked: "Il suo account non è più collegato a questi servizi di accesso:",
        open: "Può rimuovere il collegamento a questi servizi di accesso "
            + "nel suo account presso di loro:",
        kept: "Quanto segue viene conservato, per questo motivo:",
        request: "Numero della richiesta: {id}. Lo indichi in caso di domande.",
        contact: "Titolare dei dati:",
        address: "Questo è l'unico messaggio per lei. Il suo indirizzo viene "
            + "eliminato dopo l'invio."
    )
}
