import ArgumentParser
import Control
import ControlClient
import Encoding
import Lifecycle

struct Receipt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the receipt of a completed request, as JSON or as a page."
    )

    @Argument(help: RequestArgument.help)
    var id: RequestArgument
    @Flag(help: "Print one page of HTML without scripts.")
    var html = false
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let receipt = try await global.withClient { try await $0.receipt(id.id) }
        if html { return Console.write(ReceiptPage(receipt: receipt).html) }
        Console.write(receipt.indentedText.trimmingNewline)
    }
}

extension String {
    /// The text without the newline at its end, which the console adds.
    fileprivate var trimmingNewline: String { hasSuffix("\n") ? String(dropLast()) : self }
}
