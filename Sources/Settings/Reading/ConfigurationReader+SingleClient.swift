extension ConfigurationReader {
    /// Each client id of these vendors has a secret of its own: one section, one client.
    mutating func checkSingleClient(_ section: SettingsSection, at place: SectionPlace) {
        guard section.texts("client_ids").count > 1 else { return }
        log.report(
            .contradiction,
            "client_ids",
            in: place,
            "give each client id, which has a secret of its own, its own section"
        )
    }
}
