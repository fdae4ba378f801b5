import Encoding
import Glibc
package import Lifecycle
package import NIOCore
import Programs
package import Settings

/// Hands mail to the local server: by SMTP, or to a sendmail program.
package struct MailTransport: Sendable {
    /// For the local server to take a mail; it queues and does not deliver meanwhile.
    package static let timeout = Duration.seconds(30)

    private let configuration: MailConfiguration
    private let eventLoopGroup: any EventLoopGroup

    package init(_ configuration: MailConfiguration, on eventLoopGroup: any EventLoopGroup) {
        self.configuration = configuration
        self.eventLoopGroup = eventLoopGroup
    }

    package func send(_ mail: MailMessage) async -> SendResult {
        guard let program = configuration.sendmail else {
            return await SMTPClient(
                host: configuration.host,
                port: configuration.port,
                timeout: Self.timeout,
                on: eventLoopGroup
            ).send(mail)
        }
        let runner = SendmailRunner(
            program: program,
            sender: configuration.from.text,
            timeout: Self.timeout
        )
        return Self.result(of: await runner.run(mail.bytes))
    }

    /// What an operator has to mend, in one line; `nil` when mail can be handed over.
    package func problem() async -> String? {
        guard let program = configuration.sendmail else {
            let client = SMTPClient(
                host: configuration.host,
                port: configuration.port,
                timeout: .seconds(10),
                on: eventLoopGroup
            )
            return await client.isReachable()
                ? nil : "no mail server at \(configuration.host):\(configuration.port)"
        }
        var status = stat()
        guard unsafe stat(program, &status) == 0, unsafe access(program, X_OK) == 0 else {
            return "'\(program)' cannot be run: \(ErrorNumber.current)"
        }
        // NoNewPrivileges= of the unit makes the kernel ignore these bits (prctl(2)).
        let needed = [program] + (program == "/usr/sbin/sendmail" ? Self.helpers : [])
        let privileged = needed.first { path in
            unsafe stat(path, &status) == 0 && status.st_mode & (S_ISUID | S_ISGID) != 0
        }
        return privileged.map { "'\($0)' changes its user or group, which the unit forbids" }
    }

    /// What the sendmails of Postfix and nullmailer run.
    private static let helpers = ["/usr/sbin/postdrop", "/usr/sbin/nullmailer-queue"]

    /// By the codes of sysexits.h(3), which every sendmail uses.
    static func result(of outcome: SendmailRunner.Outcome) -> SendResult {
        switch outcome {
        case .exited(0): .delivered
        // EX_DATAERR, EX_NOUSER, EX_NOHOST.
        case .exited(65), .exited(67), .exited(68): SendResult(failure: .rejected)
        // EX_TEMPFAIL.
        case .exited(75): SendResult(failure: .refused)
        // What is left is about the program: EX_USAGE, EX_CANTCREAT, EX_NOPERM, EX_CONFIG.
        case .exited, .notRun: SendResult(failure: .misconfigured)
        case .lost: SendResult(failure: .lost)
        }
    }
}
