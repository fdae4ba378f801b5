import Engine
import Lifecycle
import Logging
import Messages
import Settings
import Storage
import Vault

/// Seals addresses of users, and writes the mail to them.
struct MailRoom: Sendable {
    let state: StateDatabase
    let vault: SealedVault
    let generator: IdentifierGenerator

    /// Seals an address under a key of its own: it outlives the user's data key until the
    /// confirmation is delivered, and not longer.
    ///
    /// - Throws: ``VaultError`` while the vault cannot seal.
    func seal(
        _ address: MailAddress,
        _ language: MessageLanguage
    ) throws(VaultError) -> SealedAddress {
        guard let keys = StateDatabase.addressKeys(address, id: generator.requestID()) else {
            throw VaultError(kind: .broken)
        }
        return SealedAddress(keys: try vault.sealKeys(keys), language: language)
    }

    /// `nil` when the address is gone, or cannot be opened for good.
    ///
    /// - Throws: ``VaultError`` while the key is missing, or an error of the state.
    func open(_ request: RequestID) async throws -> (MailAddress, MessageLanguage)? {
        guard let stored = try await state.address(of: request) else { return nil }
        do throws(VaultError) {
            let ids = try vault.openKeys(stored.keys).ids
            guard let address = ids.first.flatMap({ MailAddress($0.exposeText()) }) else {
                return nil
            }
            return (address, stored.language)
        } catch {
            guard error.kind == .broken else { throw error }
            return nil
        }
    }
}

/// The way of one mail: composed, and handed to the local server.
struct MailChannel: MessageChannel {
    let room: MailRoom
    let transport: MailTransport
    let configuration: DaemonConfiguration

    func send(_ message: OutgoingMessage) async -> SendResult {
        do {
            guard let mail = try await compose(message) else {
                return SendResult(failure: .addressLost)
            }
            // Nobody is configured to get alarms any more.
            return mail.to.isEmpty ? .delivered : await transport.send(mail)
        } catch {
            // Sealed, or the state cannot be read now: later.
            return SendResult(failure: .misconfigured)
        }
    }

    func shutdown() async {}

    private func compose(_ message: OutgoingMessage) async throws -> MailMessage? {
        guard let from = configuration.mail?.from else { return nil }
        func mail(_ content: (subject: String, text: String), to: [MailAddress]) -> MailMessage {
            MailMessage(
                from: from,
                to: to,
                subject: content.subject,
                text: content.text,
                id: message.id,
                date: message.occurredAt
            )
        }
        guard message.topic == .confirmation else {
            return mail(MailText.alarm(message), to: configuration.mail?.recipients ?? [])
        }
        guard let request = message.request,
            let (address, language) = try await room.open(request),
            let record = try await room.state.requestRecord(request),
            record.request.phase == .completed
        else { return nil }
        let content = MailText.confirmation(facts(of: record), in: language)
        var confirmation = mail(content, to: [address])
        confirmation.language = language
        return confirmation
    }

    /// As the receipt says it: a link that may still be there is named as such.
    private func facts(of record: RequestRecord) -> MailText.Confirmation {
        let request = record.request
        var facts = MailText.Confirmation(
            request: request.id,
            completedAt: request.endedAt ?? record.updatedAt
        )
        let open = request.revocations.filter { $0.verdict?.mayLeaveLink ?? true }
        let openNames = Set(open.map(\.provider))
        facts.open = openNames.sorted().map(\.rawValue)
        facts.revoked = Set(request.revocations.map(\.provider)).subtracting(openNames).sorted()
            .map(\.rawValue)
        facts.controller = configuration.controller?.name
        facts.contact = configuration.controller?.contact
        return facts
    }
}
