import Encoding
import Glibc
import Settings
import Systemd

extension DaemonCommand {
    /// Returns a configuration that says what the parameters of delete-user-data in `file` say.
    static func convert(_ file: String, project: String?) throws -> String {
        let parameters = try ExtensionParameters(try text(of: file), file: file)
        let made = try ExtensionConversion(parameters, file: file, project: project).configuration
        // What the service would refuse is not handed out.
        let name = "converted '\(LogText.sanitized(file))'"
        _ = try DaemonConfiguration.parse(Array(made.utf8), file: name)
        return String(made.dropLast())
    }

    private static func text(of file: String) throws(DaemonError) -> String {
        func failure(_ cause: String) -> DaemonError {
            DaemonError(.state, "cannot read '\(LogText.sanitized(file))': \(cause)")
        }
        let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw failure("\(ErrorNumber.current)") }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: ExtensionParameters.byteCountMax + 1)
        var count = 0
        while count < bytes.count {
            let answer = unsafe bytes.withUnsafeMutableBytes { buffer in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                return unsafe read(descriptor, rest.baseAddress, rest.count)
            }
            if answer < 0 && errno == EINTR { continue }
            guard answer >= 0 else { throw failure("\(ErrorNumber.current)") }
            if answer == 0 { break }
            count += answer
        }
        guard count < bytes.count else { throw failure("it is too large to be parameters") }
        guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
            throw failure("it is not UTF-8")
        }
        return text
    }
}
