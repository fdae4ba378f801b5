import Providers
package import Settings
import Stores

extension DaemonConfiguration {
    /// Reads and checks a file, for start, reload and `--check-config`; variables win over it.
    ///
    /// A file that is not there is an empty one if variables say enough, unless it is needed: at a
    /// reload a file that was lost must not take the targets away.
    ///
    /// - Throws: ``Settings/ConfigurationError`` with every problem at once.
    package static func load(
        path: String,
        environment: [String: String] = [:],
        isFileNeeded: Bool = false
    ) throws(ConfigurationError) -> DaemonConfiguration {
        let file = ConfigurationFile(path: path)
        let mayLackFile = !isFileNeeded && EnvironmentSettings(environment).standForFile
        guard mayLackFile, file.isMissing else {
            return try parse(try file.read(), file: path, environment: environment)
        }
        var configuration = try parse([], file: path, environment: environment)
        configuration.hasFile = false
        return configuration
    }

    /// Checks the text of a configuration, which messages call `file`.
    ///
    /// - Throws: ``Settings/ConfigurationError`` with every problem at once.
    package static func parse(
        _ bytes: [UInt8],
        file: String,
        environment: [String: String] = [:]
    ) throws(ConfigurationError) -> DaemonConfiguration {
        var reader = try ConfigurationLoader.open(
            bytes,
            file: file,
            variables: EnvironmentSettings(environment),
            table: Kinds.table
        )
        let requests = reader.requests()
        let state = reader.state()
        let vault = reader.vault()
        let server = reader.server()
        let journal = reader.journal()
        let controller = reader.controller()
        let recipients = reader.recipients()
        let mail = reader.mail()
        let providers = reader.readProviders(Kinds.providers, requests: requests)
        let directory = reader.readDirectory(providers: providers)
        let targets = reader.readTargets()
        let subscribers = reader.subscribers()
        let queues = reader.readQueues()
        try reader.finish()
        return DaemonConfiguration(
            requests: requests,
            state: state,
            vault: vault,
            server: server,
            journal: journal,
            controller: controller,
            recipients: recipients,
            mail: mail,
            subscribers: subscribers,
            queues: queues,
            providers: providers,
            directory: directory,
            targets: targets,
            sections: reader.sections,
            places: reader.places
        )
    }
}
