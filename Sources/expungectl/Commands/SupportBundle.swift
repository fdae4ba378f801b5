import ArgumentParser
import Control
import ControlClient
import Encoding
import FoundationEssentials
import Glibc
import Lifecycle

struct SupportBundle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Collect settings, status, metrics and journal for a problem report.",
        discussion: """
            Writes a tar file without secrets, user ids and mail addresses. Ids of requests and \
            uids of operators and applications remain; README.txt says what is left out, and \
            what is missing. Ends with 5 if the service did not answer, and else with 77 if a part \
            of the day's journal is missing.
            """
    )

    @Argument(help: "A file that does not exist yet.") var file: String
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let archive = unsafe open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard archive >= 0 else { throw unwritable() }
        defer { close(archive) }
        var notes = [Self.preamble]
        var failure: (any Error)?
        let checked = FileBytes.output(
            of: BundleFile.check.command,
            atMost: BundleFile.bytesMax
        )
        for file in BundleFile.allCases {
            do {
                let text = try await file == .check ? Self.places(checked) : content(of: file)
                try put(text, file.rawValue, into: archive)
                notes.append("\(file.rawValue): \(file.summary)")
                if file == .journal, let lack = Self.lack(ofJournal: text) {
                    notes.append("\(lack.message); \(lack.hint ?? "")")
                    failure = failure ?? lack
                }
            } catch let error as ControlClientError {
                failure = failure ?? error
                guard file == .settings, let text = Self.shareable(checked) else {
                    notes.append("\(file.rawValue) is missing: \(error)")
                    continue
                }
                try put(text, file.rawValue, into: archive)
                notes.append("\(file.rawValue): what the file says; \(error)")
            }
        }
        try put(notes.joined(separator: "\n"), "README.txt", into: archive)
        guard FileBytes.write(TarArchive.end, to: archive) else { throw unwritable() }
        if let failure { throw failure }
        let name = Table.harmless(file)
        try global.print(["file": file], "read what is in \(name), then send it: tar -xf \(name)")
    }

    private static let preamble = """
        Support bundle of expunged. Read these files before you send them.
        Left out: secrets, user ids, requests, holds, names of credentials, free texts of the
        configuration, paths of URLs, home directories, findings about stores, and what a crashed
        process printed.
        Journal entries that may quote these are left out, too. Of what expungectl doctor finds,
        only the places are here: run it, and add what may leave the machine.
        Mail addresses are replaced by (address). Ids of requests remain, and uids of operators
        and applications.

        """

    private static let noJournal = CommandFailure(
        message: "the bundle lacks the journal: you may not read it, or there is none",
        hint: "run it as root, or as a member of the group systemd-journal",
        code: .unexamined
    )

    private static let cutJournal = CommandFailure(
        message: "the bundle lacks a part of the journal: it was too long or slow to read",
        hint: "add what journalctl(1) prints of the time of the problem",
        code: .unexamined
    )

    /// What is missing of the day; entries begin with a time.
    ///
    /// Of a journal that cannot be read, journalctl(1) prints why.
    private static func lack(ofJournal text: String) -> CommandFailure? {
        let entryCount = text.split(separator: "\n").count { $0.first?.isNumber == true }
        let isCut =
            entryCount > BundleFile.entriesMax || text.utf8.count >= BundleFile.bytesMax
            || text.hasSuffix(BundleFile.timeoutMark + "\n")
        if isCut { return cutJournal }
        return entryCount > 0 || text == "-- No entries --\n" ? nil : noJournal
    }

    private func content(of file: BundleFile) async throws -> String {
        switch file {
        case .machine, .check, .journal:
            FileBytes.output(of: file.command, atMost: BundleFile.bytesMax)
        case .metrics: try await global.call(.metrics)
        case .settings: Config.text(try await global.call(.settings(.shareable)))
        case .status: try Self.json(try await global.call(.status))
        case .providers: try Self.json(try await global.call(.providers))
        case .stores: try Self.json(try await global.call(.stores))
        case .ledger: try Self.json(try await global.call(.ledger))
        }
    }

    private static func json(_ answer: some Viewable & Encodable) throws -> String {
        try TypedJSON.text(answer.forViewers, .snakeCase, layout: .prettyPrinted)
    }

    /// Where `expunged --check --json` found what; empty for a text that it did not print.
    ///
    /// A reason may quote anything, and a path may name a person.
    static func places(_ printed: String) -> String {
        guard let findings = JSONValue(Array(printed.utf8))?["findings"]?.array else { return "" }
        return JSONValue.array(findings.map { place(of: $0) }).indentedText
    }

    /// The configuration, where it is valid.
    private static func shareable(_ printed: String) -> String? {
        JSONValue(Array(printed.utf8))?["configuration"]?.string
    }

    private static func place(of finding: JSONValue) -> JSONValue {
        let place = finding["place"]?.string ?? ""
        let parts = place.split(separator: ": ").map(String.init)
        let line = parts.first.flatMap { Int64($0.split(separator: ":").last ?? "") }
        var key = parts.count > 1 ? parts[1] : ""
        let isOfFile = line != nil || place.hasPrefix("$")
        if !isOfFile || !ComponentName.isValid(key.filter { !"[]".contains($0) }) { key = "" }
        let isOwn = ownPlaces.contains(place) || ownFolders.contains { place.hasPrefix($0) }
        return [
            "severity": finding["severity"], "code": finding["code"],
            "line": line.map { JSONValue.integer($0) }, "key": key.isEmpty ? nil : .string(key),
            "place": isOwn ? .string(place) : nil,
        ]
    }

    private static let ownPlaces = [
        "clock", "expunged.service", "state, keys, providers and stores",
    ]
    private static let ownFolders = ["/run/systemd/", "/var/lib/expunged", "/var/log/expunged"]

    private func put(
        _ text: String,
        _ name: String,
        into archive: Int32
    ) throws(CommandFailure) {
        let bytes = Array(Self.withoutAddresses(text).utf8)
        let member = TarArchive.member("expunged-support/\(name)", bytes)
        guard FileBytes.write(member, to: archive) else { throw unwritable() }
    }

    private func unwritable() -> CommandFailure {
        CommandFailure(
            message: "cannot write '\(Table.harmless(file))' (unwritable): \(ErrorNumber(errno))",
            hint: "name a file that does not exist yet, in a directory of yours",
            code: .failure
        )
    }

    /// The text with a newline at its end; a user id may be a mail address.
    static func withoutAddresses(_ text: String) -> String {
        var (result, word): ([UInt8], [UInt8]) = ([], [])
        for byte in Array(text.utf8) + [UInt8(ascii: "\n")] {
            guard " \n\t\"'<>(),;=[]{}".utf8.contains(byte) else {
                word.append(byte)
                continue
            }
            result += word.contains(UInt8(ascii: "@")) ? Array("(address)".utf8) : word
            result.append(byte)
            word.removeAll(keepingCapacity: true)
        }
        return String(decoding: result, as: UTF8.self)
    }
}

enum BundleFile: String, CaseIterable {
    case machine = "machine.txt"
    case check = "check.json"
    case settings = "settings.toml"
    case status = "status.json"
    case providers = "providers.json"
    case stores = "stores.json"
    case ledger = "ledger.json"
    case metrics = "metrics.txt"
    case journal = "journal.txt"

    static let bytesMax = 1 << 26
    static let entriesMax = 50_000
    /// Behind what journalctl(1) printed until it took too long.
    static let timeoutMark = "-- cut after 60 s --"

    /// Events whose free text is a name of the configuration, a code, a count or a time.
    ///
    /// In others it may quote the configuration, a path, or what a store answered.
    private static let harmless: Set<JournalEvent> = [
        .watchdogNotFed, .storageFailed, .vaultOpened, .codeExpired, .keyRotationStarted,
        .keyRotationFinished, .ledgerCheckpoint, .replayStarted, .dataReturned, .requestRejected,
        .requestParked, .deadlineNear, .deadlinePassed, .outageEnded, .queueQuarantined,
        .queueUnwritable, .queueIrregular, .queueBack, .recipientsRefused, .clockStepped,
        .unreadSources,
    ]

    private static var matches: String {
        let events = JournalEvent.allCases.filter { event in
            let isFree = ["{error}", "{detail}"].contains { event.template.contains($0) }
            return harmless.contains(event) || !isFree && event != .vaultSealed
        }
        return events.map { "MESSAGE_ID=\($0.messageID)" }.joined(separator: " ")
    }

    /// As `doctor` finds the program.
    private static let path = "PATH=/usr/sbin:/usr/local/sbin:$PATH"

    var summary: String {
        switch self {
        case .machine: "versions of expunged, kernel, operating system and systemd"
        case .check: "places that expungectl doctor names; empty where it cannot run"
        case .settings: "the configuration in force"
        case .status: "the state of the service, with its alarms"
        case .providers, .stores: "their health, without findings"
        case .ledger: "key, size and last checkpoint"
        case .metrics: "metrics; expunged_build_info has the versions of service and libraries"
        case .journal: "the last day of the installed unit"
        }
    }

    /// Empty for what the service answers.
    var command: String {
        switch self {
        case .machine:
            "exec 2>&1; expungectl --version; \(Self.path); expunged --version; uname -srm;"
                + " grep ^PRETTY_NAME= /etc/os-release; systemctl --version"
        case .check:
            "\(Self.path); timeout 120 expunged --check --json"
                + (geteuid() == 0 ? " --as-service 2>/dev/null" : " 2>/dev/null")
        // What a process prints itself may quote a value, and has no MESSAGE_ID.
        case .journal:
            "exec 2>&1; timeout 60 journalctl --no-pager --no-hostname --since=-24h"
                + " --lines=\(Self.entriesMax + 1)"
                + " --output=short-iso _SYSTEMD_UNIT=expunged.service \(Self.matches)"
                + " + _PID=1 UNIT=expunged.service"
                // As timeout(1) says it.
                + "; test $? != 124 || echo '\(Self.timeoutMark)'"
        case .settings, .status, .providers, .stores, .ledger, .metrics: ""
        }
    }
}
