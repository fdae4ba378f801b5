import Encoding
import Engine
import Glibc
import HTTP
import Lifecycle
import Messages
import NIOPosix
import Providers
import Settings
import Stores
import Systemd
import Vault

/// Credentials, providers and stores, by what `providers check` and `stores check` ask.
extension SystemCheck {
    /// File and line, or variable, of a section or key, such as `provider.NAME.ca_file`.
    func place(of key: String, in configuration: DaemonConfiguration) -> String {
        configuration.places[key] ?? options.configurationPath
    }

    private var credentialsPath: String {
        folders.credentials?.path ?? DaemonOptions.credentialsOfUnit
    }

    func credentialFindings(_ configuration: DaemonConfiguration) -> [Finding] {
        let directory = CredentialDirectory(path: credentialsPath)
        let vaultNames =
            [configuration.vault.keyCredential] + configuration.vault.retiredKeyCredentials
        return configuration.requiredCredentials.compactMap { credential in
            let place =
                place(of: credential.usedBy, in: configuration) + ": \(credential.usedBy)"
            do {
                let secret = try directory.read(credential.name)
                if vaultNames.contains(credential.name) {
                    _ = try VaultKey(text: secret, name: credential.name)
                }
            } catch {
                return Finding(at: place, "\(error)", remedy: Remedy.of(error, ""))
            }
            let name = credential.name
            if isLinkOfUnit(name) {
                let reason = "credential '\(name)' is a symbolic link, and systemd passes none on"
                let remedy = "put a regular file into \(credentialsPath)"
                return Finding(at: place, reason, remedy: remedy)
            }
            guard isOpenToOthers(name) else { return nil }
            let reason = "every user of this machine can read credential '\(name)'"
            let remedy = "run: chmod 0600 \(credentialsPath)/\(name)"
            return Finding(.warning, at: place, reason, remedy: remedy)
        }
    }

    /// In the folder that the unit names, and not in one that systemd or a container filled.
    private func isLinkOfUnit(_ name: String) -> Bool {
        var status = stat()
        guard credentialsPath == DaemonOptions.credentialsOfUnit else { return false }
        return unsafe lstat(credentialsPath + "/" + name, &status) == 0
            && status.st_mode & S_IFMT == S_IFLNK
    }

    private func isOpenToOthers(_ name: String) -> Bool {
        var status = stat()
        return ["expunged_\(name)", name].contains { file in
            unsafe stat(credentialsPath + "/" + file, &status) == 0
                && status.st_mode & S_IRWXO != 0
        }
    }

    /// Asks all at once: a slow one keeps no other waiting.
    func componentFindings(_ configuration: DaemonConfiguration) async -> [Finding] {
        let check: SectionCheck
        do {
            check = SectionCheck(
                configuration: configuration,
                path: options.configurationPath,
                factory: try makeFactory()
            )
        } catch {
            return [Finding(at: folders.state, "\(error)", remedy: Remedy.report)]
        }
        let found = await withTaskGroup(of: (Int, Checked).self) { group in
            var index = 0
            func ask(_ check: @escaping @Sendable () async -> Checked) {
                group.addTask { [index] in (index, await check()) }
                index += 1
            }
            func add(_ check: @escaping @Sendable () async -> [Finding]) {
                ask { Checked(findings: await check()) }
            }
            for provider in configuration.providers { add { await check.findings(provider) } }
            if let directory = configuration.directory {
                add { await check.findings(directory) }
            }
            for store in configuration.stores { ask { await check.checked(store) } }
            for subscriber in configuration.subscribers {
                add { await check.findings(subscriber) }
            }
            for queue in configuration.queues { add { await check.findings(queue) } }
            if let mail = configuration.mail { add { await check.findings(mail) } }
            var found: [(Int, Checked)] = []
            for await finding in group { found.append(finding) }
            return found
        }
        return Self.findings(found.sorted { $0.0 < $1.0 }.map(\.1), configuration)
    }

    /// What was found, in the order of the file; of several stores of one database, once.
    private static func findings(
        _ checked: [Checked],
        _ configuration: DaemonConfiguration
    ) -> [Finding] {
        var reported: [StoreName: [CoverageFinding]] = [:]
        return checked.flatMap { checked in
            guard let search = checked.search else { return checked.findings }
            reported[search.store.name] = search.inspected.uncovered + search.found
            let earlier = configuration.earlierStores(inDatabaseOf: search.store)
                .flatMap { reported[$0.name] ?? [] }
            let report = CoverageReport(search.found, search.inspected, reported: earlier)
            return checked.findings + search.findings(report)
        }
    }

    private func makeFactory() throws -> AdapterFactory {
        AdapterFactory(
            credentials: folders.credentials,
            // A check stores no hash, so any key does.
            hasher: try HMACHasher(key: Secret([UInt8](repeating: 0, count: 32))),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            loops: OwnerLoops(),
            now: machine.now,
            logger: Self.silent
        )
    }
}

/// Checks what the sections of a configuration name.
struct SectionCheck: Sendable {
    let configuration: DaemonConfiguration
    /// Of the configuration.
    let path: String
    let factory: AdapterFactory

    /// The key, behind its file and line.
    func place(_ key: String) -> String { "\(configuration.places[key] ?? path): \(key)" }

    func findings(_ provider: ProviderConfiguration) async -> [Finding] {
        let key = "provider.\(provider.name)"
        let guide = Remedy.guide(ofProvider: provider.kindName)
        let setup = ProviderSetup(provider, in: factory.environment)
        var found: [Finding] = []
        do {
            let made = try provider.kind.make(setup)
            if let problem = await made.problem() {
                found.append(finding(problem, key, guide))
            }
            await made.shutdown()
        } catch {
            found += findings(error, key, guide)
        }
        do {
            try await provider.notifications.makeReceiver(setup)?.shutdown()
            try await provider.notifications.poll?.makePoller(setup).shutdown()
        } catch {
            found += findings(error, key, guide)
        }
        return found
    }

    func findings(_ directory: DirectoryConfiguration) async -> [Finding] {
        let key = "directory.\(directory.name)"
        let guide = type(of: directory.kind).guide
        do {
            let made = try await directory.kind.open(directory, in: factory.environment)
            let failure = await made.diagnose()
            await made.shutdown()
            let problem = failure.map { ProviderProblem($0, $0.advice(on: directory.name)) }
            return problem.map { [finding($0, key, guide)] } ?? []
        } catch {
            return findings(error, key, guide)
        }
    }

    private func finding(_ problem: ProviderProblem, _ key: String, _ guide: String) -> Finding {
        Finding(at: place(key), problem.finding, remedy: Remedy.of(problem.failure, guide))
    }

    /// None for a credential that cannot be read, which is found by its key.
    func findings(_ error: any Error, _ key: String, _ guide: String) -> [Finding] {
        guard !(error is SystemdError) else { return [] }
        var reason = "\(error)"
        var key = key
        if let error = error as? SetupError, error.kind == .unreadableCAFile {
            key += ".ca_file"
            let path = configuration.value(of: key) ?? ""
            reason += ": '\(path)' \(Self.problem(ofFile: path) ?? "holds no certificate")"
        }
        return [Finding(at: place(key), reason, remedy: Remedy.of(error, guide))]
    }

    private static func problem(ofFile path: String) -> String? {
        unsafe access(path, R_OK) == 0 ? nil : "cannot be read (\(ErrorNumber.current))"
    }

    fileprivate func checked(_ store: StoreConfiguration) async -> Checked {
        let key = "store.\(store.name)"
        let guide = Remedy.guide(ofStore: type(of: store.settings).name)
        let made: any PurgeStore
        do {
            made = try await factory.make(store, in: configuration)
        } catch {
            return Checked(findings: findings(error, key, guide))
        }
        let place = place(key)
        let inspected = await made.inspect(withOutages: true)
        var checked = Checked(
            findings: inspected.problems.map { problem in
                Finding(
                    at: problem.section.map { self.place("\(key).\($0)") } ?? place,
                    problem.text,
                    remedy: Remedy.of(problem, guide)
                )
            }
        )
        var found: [CoverageFinding] = []
        let searching = checked.findings.isEmpty ? made.unwrapped as? any CoverageSearching : nil
        switch await searching?.coverage() {
        case .findings(let findings)?: found = findings
        case .failure(let failure)?:
            let reason = "it cannot be searched for user data: \(failure.code)"
            checked.findings = [Finding(at: place, reason, remedy: Remedy.of(failure, guide))]
        case nil: break
        }
        checked.search = Checked.Search(
            store: store,
            place: place,
            guide: guide,
            found: found,
            inspected: inspected
        )
        await made.shutdown()
        return checked
    }

    private static let messageGuide = "docs/guides/messages.md"

    func findings(_ subscriber: SubscriberConfiguration) async -> [Finding] {
        let key = "subscriber.\(subscriber.name)"
        let channel = WebhookChannel(subscriber, in: factory.environment)
        do {
            try channel.setUp()
        } catch {
            await channel.shutdown()
            return findings(error, key, Self.messageGuide)
        }
        let failure = await channel.connectionFailure()
        await channel.shutdown()
        guard let failure else { return [] }
        let remedy =
            failure.contains("certificate") || failure.contains("TLS")
            ? "correct url, or ca_file: a PEM file that every user may read, with the authority of"
                + " the web service's certificate"
            : "start the web service, or correct url or allow_private_addresses"
        let reason = "no connection to the subscriber: \(failure)"
        let hint = "\(remedy) (\(Self.messageGuide))"
        return [Finding(at: place(key + ".url"), reason, remedy: hint)]
    }

    func findings(_ mail: MailConfiguration) async -> [Finding] {
        let transport = MailTransport(mail, on: factory.eventLoopGroup)
        guard let reason = await transport.problem() else { return [] }
        let key = mail.sendmail == nil ? "mail.server" : "mail.sendmail"
        let remedy =
            mail.sendmail == nil
            ? "install and start a mail server, such as postfix, or correct server"
            : "name a program without set-user-id and set-group-id, such as msmtp, or remove"
                + " sendmail to use server"
        return [Finding(at: place(key), reason, remedy: "\(remedy) (\(Self.messageGuide)#mail)")]
    }

    private static let queueGuide = "docs/guides/submit-in-the-same-transaction.md"

    func findings(_ queue: QueueConfiguration) async -> [Finding] {
        let place = place("queue.\(queue.name)")
        let server = queue.open(factory.environment)
        do throws(SpoolFailure) {
            let facts = try await server.open()
            await server.close()
            guard facts.foreignCount > 0 else { return [] }
            let reason = "its tables have \(facts.foreignCount) triggers or rules of others"
            let remedy = "find out which program made them; see \(Self.queueGuide)"
            return [Finding(.warning, at: place, reason, remedy: remedy)]
        } catch {
            var (reason, remedy) = Self.texts(error)
            reason = "the queue cannot be used: \(reason)"
            remedy += "; see \(Self.queueGuide)"
            return [Finding(at: place, reason, remedy: remedy)]
        }
    }

    private static func texts(_ failure: SpoolFailure) -> (reason: String, remedy: String) {
        switch failure {
        case .unreachable: ("no server answers", "start the server, or correct its address")
        case .tls:
            (
                "the server offers no TLS, or its certificate is not trusted",
                "turn TLS on at the server, check host name, ca_file and certificate; on this"
                    + " machine alone tls = \"off\" does"
            )
        case .denied:
            (
                "the server refuses the log-in, or a right is missing",
                "correct user and password, and grant the rights of the SQL file"
            )
        case .badCredential:
            (
                "its credential cannot be read, or is no connection string",
                "put it into /etc/expunged/credentials, and restart the service"
            )
        case .locked, .slow:
            ("the server does not answer in time", "end the transaction that holds the tables")
        case .readOnly: ("the server is a replica or read-only", "name the primary")
        case .wrongSchema:
            (
                "its tables are missing, or others than the documented ones",
                "make them with the SQL file below /usr/share/doc/expunged/examples"
            )
        case .newerVersion: ("a newer expunged made its tables", "install that version")
        // The rest is of files.
        case .ioError, .missing, .refused, .inWAL, .largeWAL, .corrupt, .unopenable, .diskFull:
            ("the server lacks space or memory", "free some")
        }
    }
}

private struct Checked {
    var findings: [Finding]
    /// What else is known of a store.
    var search: Search?

    struct Search {
        let store: StoreConfiguration
        let place: String
        let guide: String
        /// Empty where nothing was searched.
        let found: [CoverageFinding]
        let inspected: StoreFindings

        func findings(_ report: CoverageReport) -> [Finding] {
            let remedy = "see \(guide)"
            let advice = report.advice.map { Finding(.warning, at: place, $0, remedy: remedy) }
            let parts = report.sampled.map { part in
                Finding(
                    part.isUnread ? .unexamined : .warning,
                    at: "\(place): \(part.name)",
                    "it was not searched whole for user data: \(part.reason)",
                    remedy: part.isUnread
                        ? "grant what it names, if anything, and run the check again"
                        : "see docs/guides/stores.md"
                )
            }
            return advice + parts
                + report.questions.map { finding in
                    Finding(
                        .warning,
                        at: "\(place): \(finding.name)",
                        "it looks like user data that nothing erases: \(finding.reason)",
                        remedy: "give it a rule, or keep it with a reason; see \(guide)"
                    )
                }
        }
    }
}

extension DaemonConfiguration {
    fileprivate func value(of key: String) -> String? {
        let name = key.split(separator: ".").last.map(String.init) ?? ""
        return sections.first { "\($0.label).\(name)" == key }?.text(name)
    }
}
