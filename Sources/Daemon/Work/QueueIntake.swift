import Engine

/// Takes the rows of one queue.
struct QueueIntake: SpoolIntake {
    let intake: IntakeService
    /// As configured.
    let name: String

    func take(_ batch: SpoolBatch) async throws -> SpoolReceipts { try await intake.take(batch) }

    func rescanBegan() { intake.unsealed.rescanBegan(.queue(name)) }

    func rescanEnded() { intake.unsealed.rescanEnded(.queue(name)) }
}
