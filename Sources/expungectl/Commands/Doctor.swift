import ArgumentParser
import Glibc

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the configuration, what it names, and the machine.",
        discussion: """
            Runs expunged --check; as root in the sandbox of the service and as its user. Changes \
            nothing and needs no running service. Ends with 1 after an error, and else with 77 if \
            it could not examine everything.
            """
    )

    @Option(help: ArgumentHelp("The configuration.", valueName: "file"), completion: .file())
    var config: String?
    @Flag(help: "Print JSON, for programs.") private var json = false

    func run() throws {
        var arguments = ["expunged", "--check"]
        if geteuid() == 0 { arguments.append("--as-service") }
        if GlobalOptions.leading.isJSON { arguments.append("--json") }
        if let config { arguments += ["--config", config] }
        for path in ["/usr/sbin/expunged", "/usr/local/sbin/expunged", "expunged"] {
            let pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
            unsafe execvp(path, pointers)
        }
        throw CommandFailure(
            message: "cannot run expunged: error \(errno)",
            hint: "is it installed?",
            code: .failure
        )
    }
}
