import Lifecycle
import Messages
import Settings

/// Subscribers and the mail server; nothing is sent to them.
extension SectionCheck {
    private static let guide = "docs/guides/messages.md"

    func findings(_ subscriber: SubscriberConfiguration) async -> [Finding] {
        let key = "subscriber.\(subscriber.name)"
        let channel = WebhookChannel(subscriber, in: factory.environment)
        do {
            try channel.setUp()
        } catch {
            await channel.shutdown()
            return findings(error, key, Self.guide)
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
        return [Finding(at: place(key + ".url"), reason, remedy: "\(remedy) (\(Self.guide))")]
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
        return [Finding(at: place(key), reason, remedy: "\(remedy) (\(Self.guide)#mail)")]
    }
}
