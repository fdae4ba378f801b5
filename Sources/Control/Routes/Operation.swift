/// What a route does; the server's dispatch and the client's calls are exhaustive over it.
package enum Operation: String, Sendable, CaseIterable {
    case abandonRequest, acceptRollback, approveRequest, cancelRequest, checkProvider
    case checkStore, forgetIdentity, health, holdRequest, holdStore, holdUser, ledgerEntries
    case liftHold, listHolds, listHosts, listIdentities, listMessages, listProviders, listRequests
    case listStores, makePlan, metrics, notificationStatus, overrideGuard, pauseIntake
    case pauseProvider, pauseStore, putCredential, reauthorizeRequest, releaseRequest
    case releaseUser, reloadConfiguration, resumeIntake, resumeProvider, resumeStore
    case retryRequest, redeliverMessage, rotateVault, showAPI, showLedger, showPage, showPlan
    case showReceipt, showReplay, showReport, showRequest, showSettings, showVault, startReplay
    case status, submitRequest, suggestRules, takeNotification, verifyLedger, watchAll, watchRequest
}
