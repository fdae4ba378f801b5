import ArgumentParser

/// The languages of a printed receipt.
enum ReceiptLanguage: String, CaseIterable, ExpressibleByArgument {
    case english = "en"
    case german = "de"
    case french = "fr"
    case spanish = "es"
    case italian = "it"
}

/// The fixed texts of a receipt page; `%` stands for what is filled in.
enum ReceiptPhrase: String, CaseIterable {
    case title, revocationTitle, request, issued, requested, begun, completed, responsible, contact
    case summary, erasedFrom, nothingNewer, notSearched, noStore, notErasedSince
    case linksCut, linksLeft, noLinks
    case keptSome, copiesUntil, copiesUnknown, dataReturned
    case links, service, result, date, whatYouCanDo, removeAccess
    case proven, accepted, unconfirmed, alreadyGone, tokenDead, nothingToRevoke, manual, unrevoked
    case abandoned, cut, notCut
    case promised, acceptedLater
    case erased, store, content, action, count, verified, notVerified, deleted, anonymized, atLeast
    case kept, why, newer, shared, nothingKept
    case copies, backups, storeCopies, until, unknown, noCopies, allCopiesGone
    case recipients, recipient, purpose
    case rechecks, outcome, clean, returned, unverified, unreadable, ended, nextRecheck, noRecheck
    case later, laterIntroduction, decisions, abandonedBy, forgottenBy, rechecksEndedBy, approvedBy
    case scopeStores, scopeOthers, scopeCopies, scopeProofs, scopeLate
    case notCovered, verification, verificationHow, key, entries, data

    /// What the service says that a receipt does not cover.
    static let scope: [ReceiptPhrase] = [.scopeStores, .scopeOthers, .scopeCopies, .scopeProofs]

    func text(in language: ReceiptLanguage) -> String {
        Self.table[self]?[language] ?? rawValue
    }

    private static let table: [ReceiptPhrase: [ReceiptLanguage: String]] = rows.mapValues { texts in
        Dictionary(uniqueKeysWithValues: zip(ReceiptLanguage.allCases, texts))
    }

    /// In the order of the languages.
    static let rows: [ReceiptPhrase: [String]] = headRows.merging(
        linkRows.merging(storeRows) { $1 }
    ) { $1 }
    .merging(laterRows) { $1 }

    private static let headRows: [ReceiptPhrase: [String]] = [
        .title: [
            "Confirmation of erasure", "Bestätigung der Löschung", "Attestation d’effacement",
            "Confirmación de supresión", "Conferma di cancellazione",
        ],
        .revocationTitle: [
            "Confirmation of revocation", "Bestätigung des Widerrufs", "Attestation de révocation",
            "Confirmación de revocación", "Conferma di revoca",
        ],
        .request: ["Request", "Antrag", "Demande", "Solicitud", "Richiesta"],
        .issued: ["Issued", "Ausgestellt", "Établi le", "Emitido", "Emesso il"],
        .requested: ["Requested", "Beantragt", "Demandé le", "Solicitado", "Richiesto il"],
        .begun: [
            "Erasure began", "Beginn der Löschung", "Début de l’effacement",
            "Inicio de la supresión",
            "Inizio della cancellazione",
        ],
        .completed: ["Completed", "Abgeschlossen", "Terminé le", "Completado", "Completato il"],
        .responsible: [
            "Controller", "Verantwortlicher", "Responsable du traitement",
            "Responsable del tratamiento", "Titolare del trattamento",
        ],
        .contact: ["Contact", "Kontakt", "Contact", "Contacto", "Contatto"],
        .summary: ["Summary", "Zusammenfassung", "Résumé", "Resumen", "Riepilogo"],
        .erasedFrom: [
            "Your data was erased from %, and the erasure was verified.",
            "Ihre Daten wurden aus % gelöscht. Die Löschung wurde geprüft.",
            "Vos données ont été effacées de %, et l’effacement a été vérifié.",
            "Sus datos se han suprimido de % y la supresión se ha verificado.",
            "I Suoi dati sono stati cancellati da % e la cancellazione è stata verificata.",
        ],
        .nothingNewer: [
            "Nothing was erased from %: all data there is newer than the request.",
            "Aus % wurde nichts gelöscht: Alle Daten dort sind neuer als der Antrag.",
            "Rien n’a été effacé de % : toutes les données y sont postérieures à la demande.",
            "No se ha suprimido nada de %: todos los datos son posteriores a la solicitud.",
            "Nulla è stato cancellato da %: tutti i dati sono successivi alla richiesta.",
        ],
        .notSearched: [
            "Not searched: %.", "Nicht durchsucht: %.", "Non recherché : %.", "Sin buscar: %.",
            "Senza ricerca: %.",
        ],
        .promised: [
            "Accepted by %, not verified: the data is erased later.",
            "Von % angenommen, nicht geprüft: Die Daten werden später gelöscht.",
            "Accepté par %, non vérifié : les données seront effacées plus tard.",
            "Aceptado por %, no verificado: los datos se suprimirán más tarde.",
            "Accettato da %, non verificato: i dati saranno cancellati in seguito.",
        ],
        .acceptedLater: ["accepted", "angenommen", "accepté", "aceptado", "accettato"],
        .noStore: [
            "No store is connected, so no data was erased.",
            "Kein Datenspeicher ist angebunden, daher wurden keine Daten gelöscht.",
            "Aucun stockage n’est connecté ; aucune donnée n’a donc été effacée.",
            "No hay ningún almacén conectado, por lo que no se ha suprimido ningún dato.",
            "Nessun archivio è collegato, quindi nessun dato è stato cancellato.",
        ],
        .notErasedSince: [
            "NOT erased: stores that were connected later, see below.",
            "NICHT gelöscht: später angebundene Datenspeicher, siehe unten.",
            "NON effacé : stockages connectés ensuite, voir ci-dessous.",
            "NO suprimido: almacenes conectados después, véase abajo.",
            "NON cancellato: archivi collegati in seguito, vedi sotto.",
        ],
        .linksCut: [
            "Every known link to a sign-in service is cut.",
            "Jede bekannte Verknüpfung mit einem Anmeldedienst ist getrennt.",
            "Tous les liens connus avec un service de connexion sont rompus.",
            "Todos los vínculos conocidos con servicios de inicio de sesión están cortados.",
            "Tutti i collegamenti noti con servizi di accesso sono interrotti.",
        ],
        .linksLeft: [
            "NOT cut: %. You can remove these links yourself.",
            "NICHT getrennt: %. Sie können diese Verknüpfungen selbst entfernen.",
            "NON rompu : %. Vous pouvez supprimer ces liens vous-même.",
            "NO cortado: %. Puede eliminar estos vínculos usted mismo.",
            "NON interrotto: %. Può rimuovere questi collegamenti personalmente.",
        ],
        .noLinks: [
            "No link to a sign-in service was known.",
            "Es war keine Verknüpfung mit einem Anmeldedienst bekannt.",
            "Aucun lien avec un service de connexion n’était connu.",
            "No se conocía ningún vínculo con un servicio de inicio de sesión.",
            "Nessun collegamento con un servizio di accesso era noto.",
        ],
        .keptSome: [
            "Some data is kept; the reasons are below.",
            "Einige Daten bleiben erhalten; die Gründe stehen unten.",
            "Certaines données sont conservées ; les motifs figurent ci-dessous.",
            "Algunos datos se conservan; los motivos figuran abajo.",
            "Alcuni dati sono conservati; i motivi sono indicati sotto.",
        ],
        .copiesUntil: [
            "The last copy is gone after %.", "Die letzte Kopie ist nach dem % verschwunden.",
            "La dernière copie aura disparu après le %.",
            "La última copia desaparece después del %.",
            "L’ultima copia scompare dopo il %.",
        ],
        .copiesUnknown: [
            "It is not known when the last copy is gone.",
            "Wann die letzte Kopie verschwunden ist, ist nicht bekannt.",
            "La date de disparition de la dernière copie n’est pas connue.",
            "No se sabe cuándo desaparece la última copia.",
            "Non è noto quando scompare l’ultima copia.",
        ],
        .dataReturned: [
            "Data was found again on %.", "Am % wurden erneut Daten gefunden.",
            "Des données ont été retrouvées le %.", "Se volvieron a encontrar datos el %.",
            "Il % sono stati ritrovati dei dati.",
        ],
    ]

    private static let linkRows: [ReceiptPhrase: [String]] = [
        .links: [
            "Links to sign-in services", "Verknüpfungen mit Anmeldediensten",
            "Liens avec les services de connexion", "Vínculos con servicios de inicio de sesión",
            "Collegamenti con servizi di accesso",
        ],
        .service: ["Service", "Dienst", "Service", "Servicio", "Servizio"],
        .result: ["Result", "Ergebnis", "Résultat", "Resultado", "Risultato"],
        .date: ["Date", "Datum", "Date", "Fecha", "Data"],
        .whatYouCanDo: [
            "What you can do", "Was Sie tun können", "Ce que vous pouvez faire", "Qué puede hacer",
            "Che cosa può fare",
        ],
        .removeAccess: [
            "Open this page, find the application and remove its access:",
            "Öffnen Sie diese Seite, suchen Sie die Anwendung und entfernen Sie ihren Zugriff:",
            "Ouvrez cette page, cherchez l’application et supprimez son accès :",
            "Abra esta página, busque la aplicación y retire su acceso:",
            "Apra questa pagina, cerchi l’applicazione e rimuova il suo accesso:",
        ],
        .cut: ["Cut", "Getrennt", "Rompu", "Cortado", "Interrotto"],
        .notCut: ["NOT cut", "NICHT getrennt", "NON rompu", "NO cortado", "NON interrotto"],
        .proven: [
            "The service refuses the access that worked before.",
            "Der Dienst verweigert den Zugriff, der zuvor möglich war.",
            "Le service refuse l’accès qui fonctionnait auparavant.",
            "El servicio rechaza el acceso que antes funcionaba.",
            "Il servizio rifiuta l’accesso che prima funzionava.",
        ],
        .accepted: [
            "The service accepted the revocation.", "Der Dienst hat den Widerruf angenommen.",
            "Le service a accepté la révocation.", "El servicio ha aceptado la revocación.",
            "Il servizio ha accettato la revoca.",
        ],
        .unconfirmed: [
            "The service reported success, which proves nothing here.",
            "Der Dienst meldete Erfolg, was hier nichts beweist.",
            "Le service a signalé un succès, ce qui ne prouve rien ici.",
            "El servicio comunicó éxito, lo que aquí no prueba nada.",
            "Il servizio ha segnalato un esito positivo, che qui non prova nulla.",
        ],
        .alreadyGone: [
            "The service says that the link was gone already.",
            "Laut Dienst bestand die Verknüpfung nicht mehr.",
            "Selon le service, le lien n’existait plus.",
            "Según el servicio, el vínculo ya no existía.",
            "Secondo il servizio, il collegamento non esisteva più.",
        ],
        .tokenDead: [
            "All stored access had expired. The link may still be listed.",
            "Alle gespeicherten Zugriffe waren abgelaufen. Die Verknüpfung kann noch bestehen.",
            "Tous les accès enregistrés avaient expiré. Le lien peut encore exister.",
            "Todos los accesos guardados habían caducado. El vínculo puede seguir existiendo.",
            "Tutti gli accessi salvati erano scaduti. Il collegamento può esistere ancora.",
        ],
        .nothingToRevoke: [
            "There was nothing to revoke.", "Es gab nichts zu widerrufen.",
            "Il n’y avait rien à révoquer.", "No había nada que revocar.",
            "Non c’era nulla da revocare.",
        ],
        .manual: [
            "Only you can remove this link.", "Nur Sie können diese Verknüpfung entfernen.",
            "Vous seul pouvez supprimer ce lien.", "Solo usted puede eliminar este vínculo.",
            "Solo Lei può rimuovere questo collegamento.",
        ],
        .unrevoked: [
            "No usable access was stored, so nothing could be revoked.",
            "Es war kein brauchbarer Zugriff gespeichert, daher war kein Widerruf möglich.",
            "Aucun accès utilisable n’était enregistré ; rien n’a pu être révoqué.",
            "No había ningún acceso utilizable guardado, por lo que no se pudo revocar nada.",
            "Nessun accesso utilizzabile era salvato, quindi nulla ha potuto essere revocato.",
        ],
        .abandoned: [
            "An operator gave up the revocation.", "Der Widerruf wurde vom Betreiber aufgegeben.",
            "Un opérateur a abandonné la révocation.", "Un operador abandonó la revocación.",
            "Un operatore ha abbandonato la revoca.",
        ],
    ]

    private static let storeRows: [ReceiptPhrase: [String]] = [
        .erased: ["Erased", "Gelöscht", "Effacé", "Suprimido", "Cancellato"],
        .store: ["Store", "Datenspeicher", "Stockage", "Almacén", "Archivio"],
        .content: ["Content", "Inhalt", "Contenu", "Contenido", "Contenuto"],
        .action: ["Action", "Maßnahme", "Mesure", "Medida", "Misura"],
        .count: ["Count", "Anzahl", "Nombre", "Cantidad", "Quantità"],
        .verified: ["Verified", "Geprüft", "Vérifié le", "Verificado", "Verificato il"],
        .notVerified: [
            "NOT verified", "NICHT geprüft", "NON vérifié", "NO verificado", "NON verificato",
        ],
        .deleted: ["deleted", "gelöscht", "effacé", "suprimido", "cancellato"],
        .anonymized: ["anonymized", "anonymisiert", "anonymisé", "anonimizado", "anonimizzato"],
        .atLeast: ["at least %", "mindestens %", "au moins %", "al menos %", "almeno %"],
        .kept: [
            "Kept, and why", "Aufbewahrt, und warum", "Conservé, et pourquoi",
            "Conservado, y por qué", "Conservato, e perché",
        ],
        .why: ["Reason", "Grund", "Motif", "Motivo", "Motivo"],
        .newer: [
            "Newer than the request, or without a readable date. It may belong to a later account.",
            "Neuer als der Antrag oder ohne lesbares Datum. Es kann zu einem"
                + " späteren Konto gehören.",
            "Postérieur à la demande, ou sans date lisible. Peut appartenir à un compte ultérieur.",
            "Posterior a la solicitud, o sin fecha legible. Puede pertenecer a una"
                + " cuenta posterior.",
            "Successivo alla richiesta, o senza data leggibile. Può essere di un"
                + " account successivo.",
        ],
        .shared: [
            "It still has other owners.", "Es hat noch andere Eigentümer.",
            "D’autres personnes en sont encore propriétaires.", "Todavía tiene otros propietarios.",
            "Ha ancora altri proprietari.",
        ],
        .nothingKept: [
            "Nothing is kept in the connected stores.",
            "In den angebundenen Datenspeichern bleibt nichts erhalten.",
            "Rien n’est conservé dans les stockages connectés.",
            "No se conserva nada en los almacenes conectados.",
            "Nulla è conservato negli archivi collegati.",
        ],
        .copies: [
            "Copies that remain for a time", "Kopien, die noch bestehen", "Copies temporaires",
            "Copias que permanecen un tiempo", "Copie che restano per un periodo",
        ],
        .backups: ["Backups", "Sicherungen", "Sauvegardes", "Copias de seguridad", "Backup"],
        .storeCopies: [
            "In the store itself", "Im Datenspeicher selbst", "Dans le stockage même",
            "En el propio almacén", "Nell’archivio stesso",
        ],
        .until: ["until %", "bis %", "jusqu’au %", "hasta %", "fino al %"],
        .unknown: ["not known", "nicht bekannt", "inconnu", "no se conoce", "non noto"],
        .noCopies: ["none", "keine", "aucune", "ninguna", "nessuna"],
        .allCopiesGone: [
            "All gone", "Alles verschwunden", "Tout a disparu", "Todo desaparecido",
            "Tutto scomparso",
        ],
    ]

    private static let laterRows: [ReceiptPhrase: [String]] = [
        .rechecks: [
            "Checked again", "Erneut geprüft", "Vérifié de nouveau", "Comprobado de nuevo",
            "Controllato di nuovo",
        ],
        .outcome: ["Result", "Ergebnis", "Résultat", "Resultado", "Risultato"],
        .clean: [
            "nothing found", "nichts gefunden", "rien trouvé", "nada encontrado", "nulla trovato",
        ],
        .returned: [
            "DATA FOUND", "DATEN GEFUNDEN", "DONNÉES TROUVÉES", "DATOS ENCONTRADOS", "DATI TROVATI",
        ],
        .unverified: [
            "could not be checked", "nicht prüfbar", "vérification impossible",
            "no se pudo comprobar", "controllo impossibile",
        ],
        .unreadable: [
            "record unreadable", "Vermerk nicht lesbar", "fiche illisible", "registro ilegible",
            "scheda illeggibile",
        ],
        .ended: [
            "ended by an operator", "vom Betreiber beendet", "terminé par un opérateur",
            "terminado por un operador", "terminato da un operatore",
        ],
        .nextRecheck: [
            "The next check is on %.", "Die nächste Prüfung ist am %.",
            "La prochaine vérification aura lieu le %.", "La próxima comprobación es el %.",
            "Il prossimo controllo è il %.",
        ],
        .noRecheck: [
            "No further check follows.", "Es folgt keine weitere Prüfung.",
            "Aucune autre vérification ne suit.", "No sigue ninguna otra comprobación.",
            "Non seguono altri controlli.",
        ],
        .later: [
            "Learned later", "Später bekannt", "Appris ensuite", "Conocido después", "Appreso dopo",
        ],
        .laterIntroduction: [
            "The results above stay as they were at completion.",
            "Die Ergebnisse oben bleiben, wie sie beim Abschluss waren.",
            "Les résultats ci-dessus restent ceux de la fin du traitement.",
            "Los resultados anteriores quedan como estaban al completarse.",
            "I risultati sopra restano quelli del completamento.",
        ],
        .decisions: ["Decisions", "Entscheidungen", "Décisions", "Decisiones", "Decisioni"],
        .abandonedBy: [
            "Operator % did not wait: ", "Betreiber % hat nicht gewartet: ",
            "L’opérateur % n’a pas attendu : ", "El operador % no esperó: ",
            "L’operatore % non ha atteso: ",
        ],
        .forgottenBy: [
            "Operator % removed a link without revocation: ",
            "Betreiber % hat eine Verknüpfung ohne Widerruf entfernt: ",
            "L’opérateur % a retiré un lien sans révocation : ",
            "El operador % eliminó un vínculo sin revocarlo: ",
            "L’operatore % ha rimosso un collegamento senza revoca: ",
        ],
        .rechecksEndedBy: [
            "Operator % ended the checks: ", "Betreiber % hat die Prüfungen beendet: ",
            "L’opérateur % a mis fin aux vérifications : ",
            "El operador % puso fin a las comprobaciones: ",
            "L’operatore % ha terminato i controlli: ",
        ],
        .approvedBy: [
            "Approved by operator % on ", "Genehmigt von Betreiber % am ",
            "Approuvé par l’opérateur % le ", "Aprobado por el operador % el ",
            "Approvato dall’operatore % il ",
        ],
        .recipients: [
            "Recipients to inform", "Zu unterrichtende Empfänger", "Destinataires à informer",
            "Destinatarios que se deben informar", "Destinatari da informare",
        ],
        .recipient: ["Recipient", "Empfänger", "Destinataire", "Destinatario", "Destinatario"],
        .purpose: ["Purpose", "Zweck", "Finalité", "Finalidad", "Finalità"],
        .notCovered: [
            "What this page does not cover", "Was diese Seite nicht umfasst",
            "Ce que cette page ne couvre pas", "Lo que esta página no abarca",
            "Che cosa questa pagina non copre",
        ],
        .scopeStores: [
            "stores that are not configured as a target of this service",
            "Datenspeicher, die an diesen Dienst nicht angebunden sind",
            "les stockages qui ne sont pas connectés à ce service",
            "almacenes que no están conectados a este servicio",
            "archivi non collegati a questo servizio",
        ],
        .scopeOthers: [
            "data that was handed to others, also by the providers named here",
            "Daten, die anderen übergeben wurden, auch von den hier genannten Diensten",
            "les données transmises à des tiers, y compris par les services cités ici",
            "datos entregados a terceros, también por los servicios aquí citados",
            "dati trasmessi a terzi, anche dai servizi qui indicati",
        ],
        .scopeCopies: [
            "backups and copies of a store, until its erasure horizon",
            "Sicherungen und Kopien eines Datenspeichers, bis sie verschwunden sind",
            "les sauvegardes et copies d’un stockage, jusqu’à leur disparition",
            "copias de seguridad y copias de un almacén, hasta que desaparezcan",
            "backup e copie di un archivio, finché non scompaiono",
        ],
        .scopeProofs: [
            "this receipt, the keyed hash of the user id that keeps the erasure"
                + " through a restore, and"
                + " the entries of the ledger, none of which names the user",
            "diese Bestätigung, der mit einem Schlüssel gebildete Hashwert der"
                + " Benutzerkennung, der die Löschung"
                + " nach einer Wiederherstellung sichert, und die Einträge des Journals;"
                + " nichts davon"
                + " nennt den Benutzer",
            "cette attestation, l’empreinte à clé de l’identifiant qui maintient"
                + " l’effacement après une"
                + " restauration, et les entrées du registre ; rien de cela ne nomme l’utilisateur",
            "esta confirmación, el hash con clave del identificador que mantiene"
                + " la supresión tras una"
                + " restauración, y las entradas del registro; nada de ello nombra al usuario",
            "questa conferma, l’hash con chiave dell’identificativo che mantiene"
                + " la cancellazione dopo"
                + " un ripristino, e le voci del registro; nulla di ciò nomina l’utente",
        ],
        .scopeLate: [
            "the target '%': it was configured when the purge had begun already",
            "der Speicher „%“: Er wurde erst angebunden, als die Löschung begonnen hatte",
            "le stockage « % » : il a été connecté alors que l’effacement avait commencé",
            "el almacén «%»: se conectó cuando la supresión ya había comenzado",
            "l’archivio «%»: è stato collegato quando la cancellazione era già iniziata",
        ],
        .verification: [
            "Verification", "Überprüfung", "Vérification", "Verificación", "Verifica",
        ],
        .verificationHow: [
            "The entries below are signed. verify-ledger.py checks the data in this file, not the"
                + " text that you read, with the key:",
            "Die folgenden Einträge sind signiert. verify-ledger.py prüft die Daten in dieser"
                + " Datei, nicht den sichtbaren Text, mit dem Schlüssel:",
            "Les entrées ci-dessous sont signées. verify-ledger.py vérifie les données de ce"
                + " fichier, non le texte affiché, avec la clé :",
            "Las entradas siguientes están firmadas. verify-ledger.py comprueba los datos de este"
                + " archivo, no el texto visible, con la clave:",
            "Le voci seguenti sono firmate. verify-ledger.py verifica i dati di questo file, non il"
                + " testo visibile, con la chiave:",
        ],
        .key: ["Key", "Schlüssel", "Clé", "Clave", "Chiave"],
        .entries: [
            "Entries of the ledger", "Einträge des Journals", "Entrées du registre",
            "Entradas del registro", "Voci del registro",
        ],
        .data: [
            "Data of this page for programs", "Daten dieser Seite für Programme",
            "Données de cette page pour les programmes", "Datos de esta página para programas",
            "Dati di questa pagina per i programmi",
        ],
    ]
}
