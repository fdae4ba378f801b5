import Control
import Ledger
import Testing

@testable import Settings

/// The bounds that the API's document states are those of the parts that make the answers.
struct DocumentedBoundsTests {
    @Test func `the document's bounds are those of the service`() {
        #expect(ControlLimits.storesMax == SettingScope.store.countMax)
        #expect(ControlLimits.storesMax >= SettingScope.provider.countMax)
        #expect(ControlLimits.ledgerFindingsMax == LedgerAudit.findingsMax)
        #expect(ControlLimits.reloadErrorsMax > SettingsLimits.problemsMax)
    }
}
