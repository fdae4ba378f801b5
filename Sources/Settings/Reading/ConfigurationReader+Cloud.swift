extension ConfigurationReader {
    mutating func cloudStorageTarget(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> CloudStorageTargetConfiguration {
        let prefixes = section.texts("prefixes")
        let objects = section.texts("objects")
        if prefixes.isEmpty && objects.isEmpty {
            log.report(
                .missingKey,
                "prefixes",
                in: place,
                "a bucket needs prefixes or objects, such as prefixes = [\"users/{user_id}/\"]"
            )
        }
        return CloudStorageTargetConfiguration(
            bucket: section.text("bucket") ?? "",
            prefixes: prefixes,
            objects: objects,
            access: googleAccess(section, at: place)
        )
    }

    mutating func realtimeDatabaseTarget(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> RealtimeDatabaseTargetConfiguration {
        RealtimeDatabaseTargetConfiguration(
            url: section.text("url") ?? "",
            paths: section.texts("paths"),
            createdAtChild: section.text("created_at_child"),
            access: googleAccess(section, at: place)
        )
    }

    mutating func firestoreTarget(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> FirestoreTargetConfiguration {
        let documents = section.texts("documents")
        let collections = section.texts("collections")
        let groups = section.texts("groups")
        if documents.isEmpty && collections.isEmpty && groups.isEmpty {
            log.report(
                .missingKey,
                "documents",
                in: place,
                "a database needs documents, collections or groups, such as"
                    + " documents = [\"users/{user_id}\"]"
            )
        }
        return FirestoreTargetConfiguration(
            project: section.text("project") ?? "",
            database: section.text("database") ?? "",
            documents: documents,
            collections: collections,
            groups: groups,
            includesSubcollections: section.flag("subcollections"),
            access: googleAccess(section, at: place)
        )
    }
}
