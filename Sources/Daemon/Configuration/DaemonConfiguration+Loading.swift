import Providers
package import Settings
import Stores

extension DaemonConfiguration {
    /// Reads and checks a file, for start, reload and `--check-config`.
    ///
    /// - Throws: ``Settings/ConfigurationError`` with every problem at once.
    package static func load(path: String) throws(ConfigurationError) -> DaemonConfiguration {
        try parse(try ConfigurationFile(path: path).read(), file: path)
    }

    /// Checks the text of a configuration, which messages call `file`.
    ///
    /// - Throws: ``Settings/ConfigurationError`` with every problem at once.
    package static func parse(
        _ bytes: [UInt8],
        file: String
    ) throws(ConfigurationError) -> DaemonConfiguration {
        var reader = try ConfigurationLoader.open(bytes, file: file, table: Kinds.table)
        let requests = reader.requests()
        let vault = reader.vault()
        let server = reader.server()
        let journal = reader.journal()
        let controller = reader.controller()
        let providers = reader.readProviders(Kinds.providers, requests: requests)
        let directory = reader.readDirectory(providers: providers)
        let targets = reader.readTargets()
        try reader.finish()
        return DaemonConfiguration(
            requests: requests,
            vault: vault,
            server: server,
            journal: journal,
            controller: controller,
            providers: providers,
            directory: directory,
            targets: targets,
            sections: reader.sections,
            lines: reader.lines
        )
    }
}
