/// What a route does; the server's dispatch and the client's methods are exhaustive over it.
package enum Operation: String, Sendable, CaseIterable {
    case abandonRequest, acceptRollback, approveRequest, cancelRequest, checkProvider, checkTarget,
        forgetIdentity
    case holdRequest, holdTarget, ledgerEntries, liftHold, listHolds
    case holdUser, listIdentities, listProviders, listRequests, listTargets, makePlan, metrics
    case notificationStatus
    case overrideGuard, pauseIntake, pauseProvider, pauseTarget, putCredential, reauthorizeRequest
    case releaseRequest, releaseUser, reloadConfiguration, resumeIntake, resumeProvider
    case resumeTarget, retryRequest, rotateVault, showLedger, showPlan, showReceipt, showReplay
    case showRequest,
        showVault,
        status
    case startReplay, submitRequest, takeNotification, verifyLedger, watchAll, watchRequest
}
