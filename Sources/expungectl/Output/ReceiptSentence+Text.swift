import Lifecycle

extension ReceiptSentence {
    /// The sentence in the page's language.
    func text(in language: ReceiptLanguage) -> String {
        let index = ReceiptLanguage.allCases.firstIndex(of: language) ?? 0
        return index == 0 ? text : translations[index - 1]
    }

    /// In German, French, Spanish and Italian.
    var translations: [String] {
        switch self {
        case .linkCut:
            [
                "Der Dienst hat gemeldet, dass die Verknüpfung getrennt wurde.",
                "Le service a signalé que le lien a été rompu.",
                "El servicio ha comunicado que el vínculo se ha cortado.",
                "Il servizio ha comunicato che il collegamento è stato interrotto.",
            ]
        case .credentialRefused:
            [
                "Die Anwendung hat nach dem Widerruf einen Zugriff eingereicht. Er wurde abgelehnt;"
                    + " der Anmeldedienst kann ihn noch anerkennen.",
                "L’application a remis un accès après la révocation. Il a été refusé ; le service"
                    + " de connexion peut encore l’accepter.",
                "La aplicación entregó un acceso después de la revocación. Se rechazó; el servicio"
                    + " de inicio de sesión aún puede aceptarlo.",
                "L’applicazione ha consegnato un accesso dopo la revoca. È stato rifiutato; il"
                    + " servizio di accesso può ancora accettarlo.",
            ]
        case .hiddenFolder:
            [
                "in einem versteckten Ordner, den kein Platzhalter erfasst; er braucht einen"
                    + " eigenen Pfad",
                "dans un dossier caché, qu’aucun joker ne désigne ; il lui faut un chemin propre",
                "en una carpeta oculta, que ningún comodín abarca; necesita una ruta propia",
                "in una cartella nascosta, che nessun carattere jolly comprende; serve un percorso"
                    + " proprio",
            ]
        case .closedFolders:
            [
                "versteckte Ordner, die nicht durchsucht werden dürfen; sie müssen entfernt werden"
                    + " oder brauchen einen eigenen Pfad",
                "dossiers cachés qui ne peuvent pas être parcourus ; il faut les supprimer ou leur"
                    + " donner un chemin propre",
                "carpetas ocultas que no se pueden recorrer; hay que eliminarlas o darles una ruta"
                    + " propia",
                "cartelle nascoste che non si possono esaminare; vanno rimosse, o serve un percorso"
                    + " proprio",
            ]
        case .emptyName:
            [
                "ein leerer Name folgt auf die Benutzerkennung, daher kann es einem anderen"
                    + " Benutzer gehören",
                "un nom vide suit l’identifiant : cela peut appartenir à un autre utilisateur",
                "un nombre vacío sigue al identificador, así que puede ser de otro usuario",
                "un nome vuoto segue l’identificativo, quindi può essere di un altro utente",
            ]
        }
    }
}
