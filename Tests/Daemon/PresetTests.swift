import Providers
import Settings
import Testing

@Suite("Presets of providers") struct PresetTests {
    @Test("every preset that can be configured has a profile, and no profile lacks its name")
    func sameNames() {
        let names = OAuth2Preset.allCases.map(\.rawValue).sorted()
        #expect(OAuth2Profile.presets.keys.sorted() == names)
    }
}
