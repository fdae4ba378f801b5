package import Lifecycle

/// The `[mail]` section, where it names a sender.
package struct MailConfiguration: Hashable, Sendable {
    package let from: MailAddress
    /// Who gets alarms.
    package let recipients: [MailAddress]
    /// Without brackets.
    package let host: String
    package let port: Int
    /// The program to run instead.
    package let sendmail: String?
    package let retryFor: Duration

    /// `nil` when it is off, or refused.
    init?(_ section: SettingsSection) {
        guard let from = section.text("from").flatMap(MailAddress.init),
            let server = section.text("server"), let colon = server.lastIndex(of: ":"),
            let port = Int(server[server.index(after: colon)...])
        else { return nil }
        (self.from, self.port) = (from, port)
        recipients = section.texts("to").compactMap(MailAddress.init)
        host = server[..<colon].filter { $0 != "[" && $0 != "]" }
        sendmail = section.text("sendmail")
        retryFor = section.duration("retry_for")
    }
}

/// One `[[subscriber]]` section.
package struct SubscriberConfiguration: Hashable, Sendable {
    package let name: SubscriberName
    package let url: String
    package let secretCredential: String
    package let wantsRequests: Bool
    package let wantsAlarms: Bool
    /// `nil` for the system's authorities.
    package let caFile: String?
    package let allowsPrivateAddresses: Bool
    package let timeout: Duration
    package let retryFor: Duration

    init(_ section: SettingsSection) {
        name = SubscriberName(section.requiredText("name"))
        url = section.requiredText("url")
        secretCredential = section.requiredText("secret_credential")
        wantsRequests = section.texts("events").contains("requests")
        wantsAlarms = section.texts("events").contains("alarms")
        caFile = section.text("ca_file")
        allowsPrivateAddresses = section.flag("allow_private_addresses")
        timeout = section.duration("timeout")
        retryFor = section.duration("retry_for")
    }
}

extension ConfigurationReader {
    /// `nil` where nothing is mailed.
    package mutating func mail() -> MailConfiguration? {
        let section = single(.mail)
        let mail = MailConfiguration(section)
        if mail == nil, !section.texts("to").isEmpty {
            log.report(.contradiction, "to", in: section.place, "mail needs a sender: add from")
        }
        return mail
    }

    package mutating func subscribers() -> [SubscriberConfiguration] {
        named(.subscriber).map { section in
            var section = section
            let subscriber = read(&section) { section, problems in
                if let url = EndpointURL(section.requiredText("url")), !url.isEncrypted {
                    problems.report(.malformed, "url", "messages travel over https only")
                }
                if section.text("name") == SubscriberName.mail.rawValue {
                    problems.report(.malformed, "name", "the section [mail] has this name")
                }
                return SubscriberConfiguration(section)
            }
            append(section)
            return subscriber
        }
    }
}
