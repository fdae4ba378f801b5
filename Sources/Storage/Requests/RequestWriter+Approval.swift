import Lifecycle

/// Statements of their own, so that deletions that need no approval pay nothing for it.
extension RequestWriter {
    /// Writes who handed a request in, where that was an operator.
    func insertOperator(of request: Request) throws {
        guard let uid = request.submittedBy else { return }
        try database.run(
            "UPDATE requests SET operator_uid = ? WHERE id = ?",
            .int(Int64(uid)),
            .id(request.id.value)
        )
    }

    /// Writes the approval where it differs.
    func saveApproval(of now: Request, was: Request) throws {
        guard let approval = now.approval, approval.differsOnDisk(from: was.approval) else {
            return
        }
        try database.run(
            "UPDATE requests SET approval = ? WHERE id = ?",
            .text(try ApprovalText.encode(approval)),
            .id(now.id.value)
        )
    }
}

extension Approval {
    /// Whether anything differs but what is not stored.
    fileprivate func differsOnDisk(from other: Approval?) -> Bool {
        guard var same = other else { return true }
        same.isBusy = isBusy
        same.isStale = isStale
        same.asked = asked
        same.confirmation = confirmation
        return self != same
    }
}
