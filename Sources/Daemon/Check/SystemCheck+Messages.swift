import Lifecycle
import Messages
import Settings

/// Subscribers and the mail server; nothing is sent to them.
extension SystemCheck {
    private static let guide = "docs/guides/messages.md"

    func findings(
        _ subscriber: SubscriberConfiguration,
        _ factory: AdapterFactory,
        _ configuration: DaemonConfiguration
    ) async -> [Finding] {
        let key = "subscriber.\(subscriber.name)"
        let channel = WebhookChannel(subscriber, in: factory.environment)
        do {
            try channel.setUp()
        } catch {
            await channel.shutdown()
            return findings(error, key, Self.guide, configuration)
        }
        let failure = await channel.connectionFailure()
        await channel.shutdown()
        return failure.map { reason in
            [
                Finding(
                    at: place(of: key + ".url", in: configuration) + ": \(key).url",
                    "no connection to the subscriber: \(reason)",
                    remedy: reason.contains("certificate") || reason.contains("TLS")
                        ? "correct url, or ca_file: a PEM file that every user may read, with the"
                            + " authority of the web service's certificate (\(Self.guide))"
                        : "start the web service, or correct url or allow_private_addresses"
                            + " (\(Self.guide))"
                )
            ]
        } ?? []
    }

    func findings(
        _ mail: MailConfiguration,
        _ factory: AdapterFactory,
        _ configuration: DaemonConfiguration
    ) async -> [Finding] {
        let transport = MailTransport(mail, on: factory.eventLoopGroup)
        guard let reason = await transport.problem() else { return [] }
        let key = mail.sendmail == nil ? "mail.server" : "mail.sendmail"
        return [
            Finding(
                at: place(of: key, in: configuration) + ": \(key)",
                reason,
                remedy: mail.sendmail == nil
                    ? "install and start a mail server, such as postfix, or correct server"
                        + " (\(Self.guide)#mail)"
                    : "name a program without set-user-id and set-group-id, such as msmtp, or"
                        + " remove sendmail to use server (\(Self.guide)#mail)"
            )
        ]
    }
}
