import Engine
import Synchronization
import Vault

/// Gives the prepared answers in order, then fails.
final class FakeEntropy: Entropy {
    private let answers: Mutex<[[UInt8]]>

    init(_ answers: [[UInt8]] = []) {
        self.answers = Mutex(answers)
    }

    func bytes(_ count: Int) throws(VaultError) -> [UInt8] {
        let answer = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let answer, answer.count == count else { throw VaultError(kind: .library) }
        return answer
    }
}
