import Lifecycle

/// What receipts say in other languages of copies that stay for a while.
///
/// By the ids of the phrases of all kinds of stores: this program prints receipts and links no
/// store.
enum ResidualTranslations {
    /// The sentence with its name; `nil` in English, and for an id without translations.
    static func text(_ id: String, _ name: String?, in language: ReceiptLanguage) -> String? {
        guard let index = ReceiptLanguage.allCases.firstIndex(of: language), index > 0 else {
            return nil
        }
        return all[id].map { ResidualPhrase.filled($0[index - 1], name) }
    }

    /// In German, French, Spanish and Italian; `%` stands for a name or number.
    static let all: [String: [String]] = [
        "sqlite_log": [
            "gelöschte Inhalte im Write-Ahead-Log und dahinter, bis zu einem Checkpoint und bis"
                + " das Log überschrieben ist",
            "contenu supprimé dans le journal de transactions et au-delà, jusqu’à un point de"
                + " contrôle et jusqu’à ce que le journal soit réécrit",
            "contenido eliminado en el registro de escritura anticipada y detrás de él, hasta un"
                + " punto de control y hasta que se sobrescriba",
            "contenuto eliminato nel log di scrittura anticipata e oltre, fino a un checkpoint e"
                + " finché il log non viene sovrascritto",
        ],
        "dead_rows": [
            "tote Zeilen, bis VACUUM sie entfernt hat und ihr Platz überschrieben ist, und das"
                + " Write-Ahead-Log, bis es wiederverwendet wird",
            "lignes mortes, jusqu’au passage de VACUUM et à la réécriture de leur espace, et le"
                + " journal de transactions, jusqu’à son recyclage",
            "filas muertas, hasta que VACUUM haya pasado y su espacio se sobrescriba, y el"
                + " registro de escritura anticipada, hasta que se recicle",
            "righe morte, finché VACUUM non è passato e il loro spazio non è sovrascritto, e il"
                + " log di scrittura anticipata, finché non viene riciclato",
        ],
        "undo_log": [
            "gelöschte Zeilen in Undo-Log und Seiten von InnoDB, bis die Purge-Threads sie"
                + " entfernt haben und ihr Platz überschrieben ist, und im Binärlog, bis es"
                + " abläuft",
            "lignes supprimées dans le journal d’annulation et les pages d’InnoDB, jusqu’au"
                + " passage des threads de purge et à la réécriture de leur espace, et dans le"
                + " journal binaire, jusqu’à son expiration",
            "filas eliminadas en el registro de deshacer y en las páginas de InnoDB, hasta que"
                + " pasen los hilos de purga y su espacio se sobrescriba, y en el registro"
                + " binario, hasta que caduque",
            "righe eliminate nell’undo log e nelle pagine di InnoDB, finché i thread di purge non"
                + " sono passati e il loro spazio non è sovrascritto, e nel log binario, fino alla"
                + " sua scadenza",
        ],
        "lagging_replicas": [
            "Zeilen auf % Replikaten, bis diese die Löschung nachvollzogen haben",
            "lignes sur % réplicas, jusqu’à ce qu’ils aient rejoué la suppression",
            "filas en % réplicas, hasta que hayan aplicado la supresión",
            "righe su % repliche, finché non hanno applicato la cancellazione",
        ],
        "unknown_replicas": [
            "Zeilen auf Replikaten, falls es welche gibt",
            "lignes sur des réplicas, s’il y en a",
            "filas en réplicas, si las hay",
            "righe su repliche, se ce ne sono",
        ],
        "versions_under_legal_hold": [
            "Objektversionen unter Legal Hold im Bucket „%“",
            "versions d’objets sous conservation légale dans le bucket « % »",
            "versiones de objetos bajo retención legal en el bucket «%»",
            "versioni di oggetti sotto blocco legale nel bucket «%»",
        ],
        "versions_under_governance_lock": [
            "Objektversionen unter Governance-Sperre im Bucket „%“",
            "versions d’objets sous verrou de gouvernance dans le bucket « % »",
            "versiones de objetos bajo bloqueo de gobernanza en el bucket «%»",
            "versioni di oggetti sotto blocco di governance nel bucket «%»",
        ],
        "versions_under_compliance_lock": [
            "Objektversionen unter Compliance-Sperre im Bucket „%“",
            "versions d’objets sous verrou de conformité dans le bucket « % »",
            "versiones de objetos bajo bloqueo de cumplimiento en el bucket «%»",
            "versioni di oggetti sotto blocco di conformità nel bucket «%»",
        ],
        "objects_under_hold": [
            "Objekte unter einem Hold im Bucket „%“",
            "objets sous conservation dans le bucket « % »",
            "objetos bajo retención manual en el bucket «%»",
            "oggetti sotto blocco nel bucket «%»",
        ],
        "objects_under_retention": [
            "Objekte unter einer Aufbewahrungsfrist im Bucket „%“",
            "objets sous durée de conservation dans le bucket « % »",
            "objetos bajo un plazo de retención en el bucket «%»",
            "oggetti sotto un periodo di conservazione nel bucket «%»",
        ],
        "soft_deleted_objects": [
            "vorläufig gelöschte Objekte des Buckets „%“",
            "objets supprimés de façon réversible du bucket « % »",
            "objetos eliminados de forma reversible del bucket «%»",
            "oggetti eliminati temporaneamente del bucket «%»",
        ],
        "unfinished_uploads": [
            "nicht beendete Uploads in den Bucket „%“, falls es welche gibt: Der Bucket listet sie"
                + " nicht auf",
            "téléversements inachevés vers le bucket « % », s’il y en a : le bucket ne les"
                + " répertorie pas",
            "subidas sin terminar al bucket «%», si las hay: el bucket no las enumera",
            "caricamenti non terminati nel bucket «%», se ce ne sono: il bucket non li elenca",
        ],
        "earlier_versions": [
            "frühere Fassungen von Dokumenten in der Datenbank „%“",
            "versions antérieures de documents dans la base de données « % »",
            "versiones anteriores de documentos en la base de datos «%»",
            "versioni precedenti di documenti nel database «%»",
        ],
        "id_tokens": [
            "ID-Tokens von Firebase, die vorher ausgegeben wurden",
            "jetons d’identité Firebase délivrés auparavant",
            "tokens de identidad de Firebase entregados antes",
            "token ID di Firebase rilasciati in precedenza",
        ],
        "append_only_file": [
            "Append-only-Datei von Redis, bis sie neu geschrieben wird",
            "fichier en ajout seul de Redis, jusqu’à sa prochaine réécriture",
            "archivo de solo anexado de Redis, hasta su próxima reescritura",
            "file append-only di Redis, fino alla prossima riscrittura",
        ],
        "lagging_redis_replicas": [
            "Replikate von Redis, die im Rückstand sind",
            "réplicas de Redis en retard",
            "réplicas de Redis que van con retraso",
            "repliche di Redis in ritardo",
        ],
        "older_data_under_new_date": [
            "ältere Daten unter „%“, falls es welche gibt: Die Anwendung hat sie auf die Zeit nach"
                + " dem Antrag datiert",
            "données plus anciennes sous « % », s’il y en a : l’application les a datées d’après"
                + " la demande",
            "datos más antiguos en «%», si los hay: la aplicación los fechó después de la"
                + " solicitud",
            "dati più vecchi in «%», se ce ne sono: l’applicazione li ha datati dopo la richiesta",
        ],
        "promised": [
            "Daten, deren Löschung der Datenspeicher zugesagt hat",
            "données dont le stockage a promis l’effacement",
            "datos cuya supresión ha prometido el almacén",
            "dati di cui l’archivio ha promesso la cancellazione",
        ],
        "table_recovery": [
            "frühere Stände der Tabelle „%“ in der Point-in-Time-Wiederherstellung",
            "états antérieurs de la table « % » dans la récupération à un instant donné",
            "estados anteriores de la tabla «%» en la recuperación a un momento dado",
            "stati precedenti della tabella «%» nel ripristino point-in-time",
        ],
        "table_backups": [
            "Backups der Tabelle „%“",
            "sauvegardes de la table « % »",
            "copias de seguridad de la tabla «%»",
            "backup della tabella «%»",
        ],
        "table_stream": [
            "Einträge über die Löschung im Stream der Tabelle „%“",
            "enregistrements de la suppression dans le flux de la table « % »",
            "registros de la eliminación en el flujo de la tabla «%»",
            "record dell’eliminazione nel flusso della tabella «%»",
        ],
    ]
}
