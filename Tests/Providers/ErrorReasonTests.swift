import Engine
import HTTP
import Lifecycle
import Providers
import Testing

@Suite("Reasons of errors")
struct ErrorReasonTests {
    private static let provider = ProviderName("apple")

    @Test("are sentences behind the code, and no two kinds have the same")
    func sentences() {
        let texts: [[String]] = [
            VaultError.Kind.allCases.map { "\(VaultError(kind: $0))" },
            SetupError.Kind.allCases.map { "\(SetupError(kind: $0, provider: "apple"))" },
            SignInError.Kind.allCases.map { "\(SignInError(kind: $0, provider: Self.provider))" },
            NotificationRefusal.Kind.allCases.map {
                let answer = NotificationAnswer(status: 400)
                return "\(NotificationRefusal($0, provider: Self.provider, answer: answer))"
            },
        ]
        for texts in texts {
            let reasons = texts.map { $0.split(separator: "): ").dropFirst().joined() }
            #expect(reasons.allSatisfy { $0.split(separator: " ").count >= 3 }, "\(reasons)")
            #expect(Set(reasons).count == texts.count)
        }
    }
}
