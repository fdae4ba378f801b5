import Engine
import Lifecycle
import NIOCore
import NIOPosix

/// Hands one mail to a server on this machine: plain, without a password, as local programs do.
struct SMTPClient: Sendable {
    private let host: String
    private let port: Int
    private let timeout: Duration
    private let group: any EventLoopGroup

    init(host: String, port: Int, timeout: Duration, on group: any EventLoopGroup) {
        (self.host, self.port, self.timeout, self.group) = (host, port, timeout, group)
    }

    func send(_ mail: MailMessage) async -> SendResult {
        await BootClock.within(timeout, late: SendResult(failure: .lost)) { await talk(mail) }
    }

    /// Connects and says nothing.
    func isReachable() async -> Bool {
        do {
            let channel = try await ClientBootstrap(group: group).connectTimeout(.seconds(5))
                .connect(host: host, port: port).get()
            try await channel.close().get()
            return true
        } catch {
            return false
        }
    }

    private func talk(_ mail: MailMessage) async -> SendResult {
        let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>
        do {
            channel = try await ClientBootstrap(group: group)
                .connectTimeout(.seconds(5))
                .connect(host: host, port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                            wrappingChannelSynchronously: channel
                        )
                    }
                }
        } catch {
            return SendResult(failure: .unreachable)
        }
        do {
            return try await channel.executeThenClose { inbound, outbound in
                var dialog = SMTPDialog(mail)
                for try await buffer in inbound {
                    for move in dialog.receive(buffer.readableBytesView) {
                        switch move {
                        case .send(let bytes): try await outbound.write(ByteBuffer(bytes: bytes))
                        case .end(let result): return result
                        }
                    }
                }
                return SendResult(failure: .lost)
            }
        } catch {
            return SendResult(failure: .lost)
        }
    }
}

/// One dialog with a mail server, from its greeting to the end (RFC 5321 §3): pure.
///
/// Each step says what reply is expected and what is sent then.
struct SMTPDialog: Sendable {
    enum Move: Hashable, Sendable {
        case send([UInt8])
        case end(SendResult)
    }

    /// What a refusal for good is about.
    private enum Subject: Sendable {
        case server
        case recipient
        case message
    }

    private struct Step: Sendable {
        let code: Int
        var subject = Subject.server
        let answer: [UInt8]
    }

    /// The server's lines are short (RFC 5321 §4.5.3.1.5: 512 bytes); some for EHLO.
    private static let replyMax = 16_384

    private var steps: [Step]
    private var rest: [UInt8] = []
    private var replyCount = 0
    private var hasRecipient = false
    private var recipientCount = 0
    private var refused: [Int] = []

    init(_ mail: MailMessage) {
        func line(_ text: String) -> [UInt8] { Array("\(text)\r\n".utf8) }
        steps = [
            Step(code: 220, answer: line("EHLO localhost")),
            Step(code: 250, answer: line("MAIL FROM:<\(mail.from.text)>")),
        ]
        for (index, recipient) in mail.to.enumerated() {
            let answer = line("RCPT TO:<\(recipient.text)>")
            steps.append(
                Step(code: 250, subject: index > 0 ? .recipient : .server, answer: answer)
            )
        }
        steps += [
            Step(code: 250, subject: .recipient, answer: line("DATA")),
            Step(code: 354, answer: Self.stuffed(mail.bytes) + line(".")),
            Step(code: 250, subject: .message, answer: line("QUIT")),
        ]
    }

    /// Takes what the server sent; after an end nothing more is taken.
    mutating func receive(_ bytes: some Sequence<UInt8>) -> [Move] {
        rest.append(contentsOf: bytes)
        var moves: [Move] = []
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")), !steps.isEmpty {
            let line = Array(rest[..<end])
            rest.removeFirst(end + 1)
            replyCount += line.count
            moves += take(line)
        }
        // What is no reply, or too long for one.
        if !steps.isEmpty, rest.count + replyCount > Self.replyMax {
            steps = []
            moves.append(.end(SendResult(failure: .refused)))
        }
        return moves
    }

    private mutating func take(_ line: [UInt8]) -> [Move] {
        // All lines of a reply but its last have a hyphen behind the code (RFC 5321 §4.2.1).
        if line.count > 3, line[3] == UInt8(ascii: "-") { return [] }
        let code = Int(String(decoding: line.prefix(3), as: UTF8.self)) ?? 0
        let step = steps.removeFirst()
        replyCount = 0
        // 251: it forwards (RFC 5321 §4.2.3).
        let isAccepted = code == step.code || step.code == 250 && code == 251
        let isFinal = step.subject != .server && (500...599).contains(code)
        if step.subject == .recipient, isAccepted { hasRecipient = true }
        // The other recipients get the mail without the one that is refused.
        let isSkipped =
            step.subject == .recipient && isFinal
            && (hasRecipient || steps.first?.subject == .recipient)
        guard isAccepted || isSkipped else {
            steps = []
            return [.end(SendResult(failure: isFinal ? .rejected : .refused))]
        }
        if isSkipped { refused.append(recipientCount) }
        if step.subject == .recipient { recipientCount += 1 }
        guard steps.isEmpty else { return [.send(step.answer)] }
        var result = SendResult.delivered
        result.refusedRecipients = refused
        return [.send(step.answer), .end(result)]
    }

    /// RFC 5321 §4.5.2: a line that begins with a dot gets another one.
    static func stuffed(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var isLineStart = true
        for byte in bytes {
            if isLineStart, byte == UInt8(ascii: ".") { result.append(byte) }
            result.append(byte)
            isLineStart = byte == UInt8(ascii: "\n")
        }
        return result
    }
}
