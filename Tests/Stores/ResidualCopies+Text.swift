import Daemon
import Lifecycle

extension PurgeCounts.ResidualCopies {
    /// As a receipt prints it.
    var text: String { ResidualTexts.text(of: self) }
}
