import Synchronization

@testable package import Sandbox

/// The commands to Firebase and Google Cloud.
extension RunningSandbox {
    package var cloud: CloudContents { families.cloud.contents }

    package func add(_ contents: CloudContents) { families.cloud.add(contents) }

    /// The key file of the service account that the project knows.
    ///
    /// - Throws: ``SandboxError`` when no key can be made.
    package func serviceAccountKeyFile() throws -> String { try families.cloud.keyFile() }

    /// Makes an account of Firebase Authentication, or replaces it.
    package func add(_ account: CloudAccount) {
        families.cloud.state.withLock { $0.accounts[""]?[ExactText(account.localID)] = account }
    }

    package func account(_ localID: String) -> CloudAccount? {
        families.cloud.state.withLock { $0.accounts[""]?[ExactText(localID)] }
    }

    /// Makes queries of accounts find an account that was not asked for, as no server should.
    package func answerQueries(with account: CloudAccount?) {
        families.cloud.state.withLock { $0.queryDecoy = account }
    }

    /// Makes a document of Firestore, or replaces it as a write would.
    package func add(_ document: CloudDocument) {
        families.cloud.state.withLock { state in
            var document = document
            document.writeCount = (state.documents[document.path]?.writeCount ?? -1) + 1
            state.documents[document.path] = document
        }
    }

    package var documents: [String] {
        families.cloud.state.withLock { $0.documents.paths.sorted() }
    }

    /// Lets the next writes of Firestore fail, one by one, inside calls that succeed.
    package func failWrites(_ count: Int) {
        families.cloud.state.withLock { $0.failingWriteCount = count }
    }

    package func add(_ object: CloudObject) { families.cloud.add(object) }

    /// The objects of Cloud Storage that are not deleted, softly or for good, by name.
    package var objects: [CloudObject] {
        families.cloud.state.withLock { $0.objects }
            .filter { $0.hardDeleteMilliseconds == nil }.sorted { $0.name < $1.name }
    }

    package func add(value: Int64, at path: String...) {
        let cloud = families.cloud
        let path = path.joined(separator: "/")
        cloud.state.withLock { $0.values[cloud.configuration.instance]?[path] = value }
    }

    /// The places of all values of the Realtime Database, with slashes between the keys, sorted.
    package var places: [String] { cloud.values ?? [] }

    /// Makes every access token of the service account invalid, as when its key is replaced.
    package func forgetServiceTokens() { families.cloud.state.withLock { $0.tokens.removeAll() } }
}
