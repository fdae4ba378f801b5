import Engine
import Settings
import Stores

/// Queues; nothing is read from them.
extension SectionCheck {
    private static let guide = "docs/guides/submit-in-the-same-transaction.md"

    func findings(_ queue: QueueConfiguration) async -> [Finding] {
        let place = place("queue.\(queue.name)")
        let server = queue.open(factory.environment)
        do throws(SpoolFailure) {
            let facts = try await server.open()
            await server.close()
            guard facts.foreignCount > 0 else { return [] }
            let reason = "its tables have \(facts.foreignCount) triggers or rules of others"
            let remedy = "find out which program made them; see \(Self.guide)"
            return [Finding(.warning, at: place, reason, remedy: remedy)]
        } catch {
            var (reason, remedy) = Self.texts(error)
            reason = "the queue cannot be used: \(reason)"
            remedy += "; see \(Self.guide)"
            return [Finding(at: place, reason, remedy: remedy)]
        }
    }

    private static func texts(_ failure: SpoolFailure) -> (reason: String, remedy: String) {
        switch failure {
        case .unreachable:
            ("no server answers", "start the server, or correct its address")
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
        case .readOnly:
            ("the server is a replica or read-only", "name the primary")
        case .wrongSchema:
            (
                "its tables are missing, or others than the documented ones",
                "make them with the SQL file below /usr/share/doc/expunged/examples"
            )
        case .newerVersion:
            ("a newer expunged made its tables", "install that version")
        // The rest is of files.
        case .ioError, .missing, .refused, .inWAL, .largeWAL, .corrupt, .unopenable, .diskFull:
            ("the server lacks space or memory", "free some")
        }
    }
}
