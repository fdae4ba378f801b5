import Engine
import GRDB

extension SpoolChecks {
    /// Parts rows into what can be taken and what cannot.
    func sort(
        _ rows: [SpoolRawRow]
    ) throws -> (batch: SpoolBatch, refusedCredentials: [CredentialSettlement]) {
        var credentials: [SpoolCredential] = []
        var requests: [Submission] = []
        var refused: [RefusedRow] = []
        var settlements: [CredentialSettlement] = []
        for raw in rows {
            switch raw.table {
            case .credentials:
                switch credential(raw) {
                case .credential(let credential): credentials.append(credential)
                case .refused(let row, let reason):
                    settlements.append(CredentialSettlement(row: row, rejection: reason))
                }
            case .requests:
                switch try request(raw) {
                case .submission(let submission): requests.append(submission)
                case .refused(let row): refused.append(row)
                }
            }
        }
        let batch = SpoolBatch(credentials: credentials, requests: requests, refused: refused)
        return (batch, settlements)
    }
}
