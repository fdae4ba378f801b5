import Encoding
import HTTP
import Lifecycle
import NIOHTTP1
import Settings

/// The section `[store.auth]`.
struct HTTPAuth: Hashable, Sendable {
    /// How calls prove who makes them.
    enum Scheme: String, Sendable, CaseIterable {
        case none, bearer, basic, header, oauth2
        case aws = "aws-sigv4"
    }

    var scheme = Scheme.none
    /// The user, client id or access key id.
    var username: String?
    var header: String?
    var prefix = ""
    var tokenURL: String?
    var tokenForm: [String: String] = [:]
    var isSecretInBody = false
    var region: String?
    var service: String?

    init() {}

    init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        guard let auth = section.children.first(where: { $0.scope == .auth }) else {
            self.init()
            return
        }
        self.init(auth, values: section.map("values"), &problems)
    }

    /// Reads a section with the keys of `[store.auth]`; `values` stand for what is in braces.
    init(
        _ auth: SettingsSection,
        values: [String: String],
        _ problems: inout SectionProblems
    ) {
        scheme = auth.requiredChoice("scheme")
        username = auth.text("username").map { Self.fill($0, values) }
        header = auth.text("header")
        prefix = auth.text("prefix") ?? ""
        tokenURL = auth.text("token_url")
        tokenForm = auth.map("token_form").mapValues { Self.fill($0, values) }
        isSecretInBody = auth.flag("secret_in_body")
        region = auth.text("region")
        service = auth.text("service")
        let texts = [("username", username ?? "")] + tokenForm.map { ("token_form", $0.value) }
        for (name, text) in texts where text.contains("{") {
            let cause = "values must have what stands in braces in '\(text)'"
            problems.report(.contradiction, name, in: auth.place, cause)
        }
        for name in missing {
            let cause = "scheme \"\(scheme.rawValue)\" needs it"
            problems.report(.missingKey, name, in: auth.place, cause)
        }
        if let url = tokenURL.flatMap({ EndpointURL($0) }), !url.isEncrypted {
            let cause = "secrets travel over https only"
            problems.report(.malformed, "token_url", in: auth.place, cause)
        }
    }

    var needsSecret: Bool { scheme != .none }

    private var missing: [String] {
        let needed: [(String, String?)] =
            switch scheme {
            case .none, .bearer: []
            case .basic: [("username", username)]
            case .header: [("header", header)]
            case .oauth2: [("username", username), ("token_url", tokenURL)]
            case .aws: [("username", username), ("region", region), ("service", service)]
            }
        return needed.filter { $0.1 == nil }.map(\.0)
    }

    private static func fill(_ text: String, _ values: [String: String]) -> String {
        values.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
    }

    /// What authorizes the calls of a store.
    ///
    /// - Throws: ``HTTP/SetupError`` for a token URL that secrets must not go to, and
    ///   ``StoreSetupError`` for a secret that no header can carry.
    func authorizer(
        _ name: StoreName,
        at base: String,
        _ secret: Secret?,
        _ settings: RemoteSettings,
        _ remote: RemoteClient,
        now: @escaping @Sendable () -> WallTime
    ) throws -> HTTPAuthorizer {
        guard let secret, needsSecret else { return .none }
        let isVisible = secret.withBytes { bytes in
            !bytes.isEmpty && bytes.allSatisfy { (0x20...0x7e).contains($0) }
        }
        guard isVisible else {
            throw StoreSetupError(name, "the credential must be one line of visible ASCII")
        }
        switch scheme {
        case .none: return .none
        case .bearer: return .header(name: "Authorization", value: Self.joined("Bearer ", secret))
        case .basic:
            let value = Authorization.basic(username ?? "", secret).text
            return .header(name: "Authorization", value: Secret(value))
        case .header: return .header(name: header ?? "", value: Self.joined(prefix, secret))
        case .oauth2:
            let client = HTTPTokenSource.Client(
                id: username ?? "",
                secret: secret,
                isInBody: isSecretInBody,
                fields: tokenForm
            )
            let url = tokenURL ?? ""
            let whole = url.hasPrefix("/") ? base + url : url
            let endpoint = try RemoteEndpoint(whole: whole, method: .POST, settings)
            return .tokens(HTTPTokenSource(endpoint, client, remote, now: now))
        case .aws:
            let keys = AWSSigner.Keys(accessKeyID: username ?? "", secretKey: secret)
            return .aws(AWSSigner(keys: keys, region: region ?? "", service: service ?? ""))
        }
    }

    private static func joined(_ prefix: String, _ secret: Secret) -> Secret {
        Secret(secret.withBytes { Array(prefix.utf8) + $0 })
    }
}
