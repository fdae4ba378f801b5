import Lifecycle

extension ResidualPhrase {
    /// The sentence with its name in the page's language.
    func text(_ name: String?, in language: ReceiptLanguage) -> String {
        let index = ReceiptLanguage.allCases.firstIndex(of: language) ?? 0
        let template = index == 0 ? template : translations[index - 1]
        return Self.filled(template, name)
    }

    /// In German, French, Spanish and Italian.
    var translations: [String] { databaseTexts ?? bucketTexts ?? otherTexts }

    private var databaseTexts: [String]? {
        switch self {
        case .sqliteLog:
            [
                "gelöschte Inhalte im Write-Ahead-Log und dahinter, bis zu einem Checkpoint und bis"
                    + " das Log überschrieben ist",
                "contenu supprimé dans le journal de transactions et au-delà, jusqu’à un point de"
                    + " contrôle et jusqu’à ce que le journal soit réécrit",
                "contenido eliminado en el registro de escritura anticipada y detrás de él, hasta"
                    + " un punto de control y hasta que se sobrescriba",
                "contenuto eliminato nel log di scrittura anticipata e oltre, fino a un checkpoint"
                    + " e finché il log non viene sovrascritto",
            ]
        case .deadRows:
            [
                "tote Zeilen, bis VACUUM sie entfernt hat und ihr Platz überschrieben ist, und das"
                    + " Write-Ahead-Log, bis es wiederverwendet wird",
                "lignes mortes, jusqu’au passage de VACUUM et à la réécriture de leur espace, et le"
                    + " journal de transactions, jusqu’à son recyclage",
                "filas muertas, hasta que VACUUM haya pasado y su espacio se sobrescriba, y el"
                    + " registro de escritura anticipada, hasta que se recicle",
                "righe morte, finché VACUUM non è passato e il loro spazio non è sovrascritto, e il"
                    + " log di scrittura anticipata, finché non viene riciclato",
            ]
        case .undoLog:
            [
                "gelöschte Zeilen in Undo-Log und Seiten von InnoDB, bis die Purge-Threads sie"
                    + " entfernt haben und ihr Platz überschrieben ist, und im Binärlog, bis es"
                    + " abläuft",
                "lignes supprimées dans le journal d’annulation et les pages d’InnoDB, jusqu’au"
                    + " passage des threads de purge et à la réécriture de leur espace, et dans le"
                    + " journal binaire, jusqu’à son expiration",
                "filas eliminadas en el registro de deshacer y en las páginas de InnoDB, hasta que"
                    + " pasen los hilos de purga y su espacio se sobrescriba, y en el registro"
                    + " binario, hasta que caduque",
                "righe eliminate nell’undo log e nelle pagine di InnoDB, finché i thread di purge"
                    + " non sono passati e il loro spazio non è sovrascritto, e nel log binario,"
                    + " fino alla sua scadenza",
            ]
        case .laggingReplicas:
            [
                "Zeilen auf % Replikaten, bis diese die Löschung nachvollzogen haben",
                "lignes sur % réplicas, jusqu’à ce qu’ils aient rejoué la suppression",
                "filas en % réplicas, hasta que hayan aplicado la supresión",
                "righe su % repliche, finché non hanno applicato la cancellazione",
            ]
        case .unknownReplicas:
            [
                "Zeilen auf Replikaten, falls es welche gibt",
                "lignes sur des réplicas, s’il y en a",
                "filas en réplicas, si las hay",
                "righe su repliche, se ce ne sono",
            ]
        default: nil
        }
    }

    private var bucketTexts: [String]? {
        switch self {
        case .versionsUnderLegalHold:
            [
                "Objektversionen unter Legal Hold im Bucket „%“",
                "versions d’objets sous conservation légale dans le bucket « % »",
                "versiones de objetos bajo retención legal en el bucket «%»",
                "versioni di oggetti sotto blocco legale nel bucket «%»",
            ]
        case .versionsUnderGovernance:
            [
                "Objektversionen unter Governance-Sperre im Bucket „%“",
                "versions d’objets sous verrou de gouvernance dans le bucket « % »",
                "versiones de objetos bajo bloqueo de gobernanza en el bucket «%»",
                "versioni di oggetti sotto blocco di governance nel bucket «%»",
            ]
        case .versionsUnderCompliance:
            [
                "Objektversionen unter Compliance-Sperre im Bucket „%“",
                "versions d’objets sous verrou de conformité dans le bucket « % »",
                "versiones de objetos bajo bloqueo de cumplimiento en el bucket «%»",
                "versioni di oggetti sotto blocco di conformità nel bucket «%»",
            ]
        case .objectsUnderHold:
            [
                "Objekte unter einem Hold im Bucket „%“",
                "objets sous conservation dans le bucket « % »",
                "objetos bajo retención manual en el bucket «%»",
                "oggetti sotto blocco nel bucket «%»",
            ]
        case .objectsUnderRetention:
            [
                "Objekte unter einer Aufbewahrungsfrist im Bucket „%“",
                "objets sous durée de conservation dans le bucket « % »",
                "objetos bajo un plazo de retención en el bucket «%»",
                "oggetti sotto un periodo di conservazione nel bucket «%»",
            ]
        case .softDeletedObjects:
            [
                "vorläufig gelöschte Objekte des Buckets „%“",
                "objets supprimés de façon réversible du bucket « % »",
                "objetos eliminados de forma reversible del bucket «%»",
                "oggetti eliminati temporaneamente del bucket «%»",
            ]
        case .unfinishedUploads:
            [
                "nicht beendete Uploads in den Bucket „%“, falls es welche gibt: Der Bucket listet"
                    + " sie nicht auf",
                "téléversements inachevés vers le bucket « % », s’il y en a : le bucket ne les"
                    + " répertorie pas",
                "subidas sin terminar al bucket «%», si las hay: el bucket no las enumera",
                "caricamenti non terminati nel bucket «%», se ce ne sono: il bucket non li elenca",
            ]
        default: nil
        }
    }

    private var otherTexts: [String] {
        switch self {
        case .earlierVersions:
            [
                "frühere Fassungen von Dokumenten in der Datenbank „%“",
                "versions antérieures de documents dans la base de données « % »",
                "versiones anteriores de documentos en la base de datos «%»",
                "versioni precedenti di documenti nel database «%»",
            ]
        case .idTokens:
            [
                "ID-Tokens von Firebase, die vorher ausgegeben wurden",
                "jetons d’identité Firebase délivrés auparavant",
                "tokens de identidad de Firebase entregados antes",
                "token ID di Firebase rilasciati in precedenza",
            ]
        case .appendOnlyFile:
            [
                "Append-only-Datei von Redis, bis sie neu geschrieben wird",
                "fichier en ajout seul de Redis, jusqu’à sa prochaine réécriture",
                "archivo de solo anexado de Redis, hasta su próxima reescritura",
                "file append-only di Redis, fino alla prossima riscrittura",
            ]
        case .laggingCaches:
            [
                "Replikate von Redis, die im Rückstand sind",
                "réplicas de Redis en retard",
                "réplicas de Redis que van con retraso",
                "repliche di Redis in ritardo",
            ]
        case .promised:
            [
                "Daten, deren Löschung der Datenspeicher zugesagt hat",
                "données dont le stockage a promis l’effacement",
                "datos cuya supresión ha prometido el almacén",
                "dati di cui l’archivio ha promesso la cancellazione",
            ]
        case .olderDataUnderNewDate:
            [
                "ältere Daten unter „%“, falls es welche gibt: Die Anwendung hat sie auf die Zeit"
                    + " nach dem Antrag datiert",
                "données plus anciennes sous « % », s’il y en a : l’application les a datées"
                    + " d’après la demande",
                "datos más antiguos en «%», si los hay: la aplicación los fechó después de la"
                    + " solicitud",
                "dati più vecchi in «%», se ce ne sono: l’applicazione li ha datati dopo la"
                    + " richiesta",
            ]
        default: dynamoTexts
        }
    }

    private var dynamoTexts: [String] {
        switch self {
        case .tableRecovery:
            [
                "frühere Stände der Tabelle „%“ in der Point-in-Time-Wiederherstellung",
                "états antérieurs de la table « % » dans la récupération à un instant donné",
                "estados anteriores de la tabla «%» en la recuperación a un momento dado",
                "stati precedenti della tabella «%» nel ripristino point-in-time",
            ]
        case .tableBackups:
            [
                "Backups der Tabelle „%“",
                "sauvegardes de la table « % »",
                "copias de seguridad de la tabla «%»",
                "backup della tabella «%»",
            ]
        case .tableStream:
            [
                "Einträge über die Löschung im Stream der Tabelle „%“",
                "enregistrements de la suppression dans le flux de la table « % »",
                "registros de la eliminación en el flujo de la tabla «%»",
                "record dell’eliminazione nel flusso della tabella «%»",
            ]
        default: []
        }
    }
}
