import Engine
import HTTP
import Lifecycle
import Settings
import Stores
import Systemd
import Vault

/// What an operator does about a finding.
enum Remedy {
    static let caution = "if that is meant, nothing; see expunged.conf(5)"
    static let report = "report this as CONTRIBUTING.md says"

    static func guide(ofProvider kind: String) -> String { "docs/providers/\(kind).md" }

    static func guide(ofStore kind: String) -> String { "docs/stores/\(kind).md" }

    static func of(_ problem: ConfigurationProblem) -> String {
        let line =
            problem.variable.map { "$\($0)" } ?? problem.line.map { "line \($0)" } ?? "the file"
        let manual = "expunged.conf(5) lists every key with its values"
        return switch problem.kind {
        case .unreadable:
            "create it with: expunged setup; or let the service's user read it: chmod 0644"
        case .notRegularFile: "name a regular file with --config"
        case .unsafePermissions: "run: chown root \(problem.file); chmod go-w \(problem.file)"
        case .tooLarge: "shorten \(line); lists may span lines"
        case .notText: "save the file as UTF-8"
        case .syntax: "correct \(line): texts in quotes, one key per line (toml.io)"
        case .tooDeep: "flatten \(line)"
        case .unknownKey: "correct the name in \(line) or remove it; \(manual)"
        case .missingKey: "add the key below \(line); \(manual)"
        case .wrongType, .unknownValue, .malformed, .outOfRange:
            "correct the value in \(line); \(manual)"
        case .duplicate: "rename or remove one of the two, in \(line)"
        case .contradiction: "change one of the keys that exclude each other, in \(line)"
        case .tooMany: "remove some, in \(line); \(manual)"
        }
    }

    /// `guide` is the page about the provider or store; may be empty.
    static func of(_ error: any Error, _ guide: String) -> String {
        switch error {
        case let error as SystemdError: of(error.kind)
        case let error as VaultSetupError: of(error.kind, guide)
        case let error as SetupError: of(error.kind, guide)
        default: of(text: "\(error)", guide)
        }
    }

    private static func of(_ kind: SystemdError.Kind) -> String {
        switch kind {
        case .missing:
            "put the secret into /etc/expunged/credentials under that name (root, mode 0600), and"
                + " restart the service"
        case .unsafePermissions: "run chmod 0600 on it"
        case .wrongType: "replace it by a regular file"
        case .tooLarge: "put only the secret into it"
        case .malformedName: "use letters, digits, '.', '_' and '-' in its name"
        case .unexpected, .system: "let root own it, with mode 0600"
        }
    }

    private static func of(_ kind: VaultSetupError.Kind, _ guide: String) -> String {
        let page = guide.isEmpty ? "docs/guides/keys.md" : guide
        return switch kind {
        case .malformed, .wrongType:
            "put the right key there, unchanged as you got it (a provider's key file is the one of"
                + " key_id; the vault's comes from expunged --generate-vault-key); see \(page)"
        case .unsafeFile: "let the service own it, with mode 0600"
        case .missing: "restore it from the same backup as state.db"
        case .exists: "name a new file"
        case .system, .library: "see docs/guides/keys-in-hardware.md, or the log of OpenSSL"
        }
    }

    private static func of(_ kind: SetupError.Kind, _ guide: String) -> String {
        switch kind {
        case .malformedBaseURL: "write base_url as https://host/path; see \(guide)"
        case .plainHTTP: "use https"
        case .unreadableCAFile:
            "name a PEM file that every user may read, outside of home directories: the unit hides"
                + " those"
        case .malformedClient: "correct client_ids, team_id and key_id; see \(guide)"
        case .wrongKeyAlgorithm: "use a key of the type that the other side takes; see \(guide)"
        case .malformedServiceAccount:
            "put the JSON key file of the service account there, unchanged; see \(guide)"
        }
    }

    static func of(_ failure: EffectFailure, _ guide: String) -> String {
        switch failure {
        case .unreachable, .lost:
            "check the name, DNS, the firewall and ca_file: curl from this machine shows the"
                + " same; then see \(guide)"
        case .throttled: "wait, or lower rate_per_second"
        case .refusesAll(let answer) where answer.client == nil:
            "wait if its status page names an outage, else correct its URLs; see \(guide)"
        case .unusable: "correct its URLs; see \(guide)"
        case .rejected, .refused, .refusesAll, .misconfigured:
            "correct the client id, the key or secret and what belongs to it, and set the clock;"
                + " see \(guide)"
        case .notConfigured, .sealBroken, .vaultSealed, .keys, .blocked: "see \(guide)"
        }
    }

    static func of(_ problem: StoreProblem, _ guide: String) -> String {
        if let remedy = problem.remedy { return remedy }
        guard problem.section != nil else { return of(text: problem.text, guide) }
        return "correct the names in the rules, the schema or the grants; see \(guide)"
    }

    /// By words of the reason, which a store or the system wrote.
    static func of(text: String, _ guide: String) -> String {
        let text = text.lowercased()
        let row = rows.first { row in row.words.contains { text.contains($0) } }
        return (row.map { $0.remedy + "; " } ?? "repair it; ") + "see \(guide)"
    }

    private static let rows: [(words: [String], remedy: String)] = [
        (["bytes in base64"], "make a new secret for both sides: openssl rand -base64 32"),
        (
            ["allow_private_addresses"],
            "set allow_private_addresses = true if the server is your own, or correct its address"
        ),
        (["no server", "closed the connection"], "start the server, or correct its address"),
        (
            [
                "permission denied", "may not", "is refused", "not writable", "cannot be written",
                "read-only", "readonly", "not permitted",
            ],
            "grant it to the service's user or role; a drop-in with ReadWritePaths= and a group"
                + " opens files"
        ),
        (
            ["not a database", "or an encrypted one", "malformed", "corrupt"],
            "name the right file, or restore it"
        ),
        (
            ["no such file", "does not exist", "is missing", "not found", "not a regular file"],
            "correct the path, or create what it names where the unit lets the service see it"
        ),
        (
            ["password", "authentication", "wrongpass", "noauth"],
            "correct the user, and the password in its credential"
        ),
        (
            ["resolve", "connection", "connect", "certificate", "tls", "timed out", "unreachable"],
            "check the name, DNS, the firewall and ca_file"
        ),
        (["bucket", "prefix", "object"], "correct the bucket's name and its permissions"),
    ]
}
