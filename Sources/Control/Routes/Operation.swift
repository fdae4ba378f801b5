/// What a route does; the server's dispatch and the client's calls are exhaustive over it.
package enum Operation: String, Sendable, CaseIterable {
    case abandonRequest, acceptRollback, approveRequest, cancelRequest, checkProvider, checkTarget
    case forgetIdentity, holdRequest, holdTarget, holdUser, ledgerEntries, liftHold, listHolds
    case listIdentities, listProviders, listRequests, listTargets, makePlan, metrics
    case notificationStatus, overrideGuard, pauseIntake, pauseProvider, pauseTarget, putCredential
    case reauthorizeRequest, releaseRequest, releaseUser, reloadConfiguration, resumeIntake
    case resumeProvider, resumeTarget, retryRequest, rotateVault, showLedger, showPlan, showReceipt
    case showReplay, showRequest, showVault, startReplay, status, submitRequest, takeNotification
    case verifyLedger, watchAll, watchRequest
}
