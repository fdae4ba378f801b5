/// What a route does; the server's dispatch and the client's calls are exhaustive over it.
package enum Operation: String, Sendable, CaseIterable {
    case abandonRequest, acceptRollback, approveRequest, cancelRequest, checkProvider, checkTarget
    case forgetIdentity, health, holdRequest, holdTarget, holdUser, ledgerEntries, liftHold
    case listHolds, listIdentities, listProviders, listRequests, listTargets, makePlan, metrics
    case notificationStatus, overrideGuard, pauseIntake, pauseProvider, pauseTarget, putCredential
    case reauthorizeRequest, releaseRequest, releaseUser, reloadConfiguration, resumeIntake
    case resumeProvider, resumeTarget, retryRequest, rotateVault, showAPI, showLedger
    case showPlan, showReceipt, showReplay, showRequest, showVault, startReplay, status
    case submitRequest, takeNotification, verifyLedger, watchAll, watchRequest
}
