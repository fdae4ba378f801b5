import Encoding
import Settings

extension HTTPKind {
    static let stepSettings = callSettings + answerSettings + orderSettings

    private static let callSettings = Setting.keys(
        .step,
        ("name", .text(.name), .required(example: .text("contact")), "Name of the step."),
        (
            "method", .choice(HTTPStep.Method.allCases.map(\.rawValue)),
            .required(example: .text("DELETE")), "Method of the call."
        ),
        (
            "path", .text(.httpPath), .required(example: .text("/v1/users/{user_id}")),
            """
            Path behind base_url. In path, query, json and form stand {user_id}, {id} (for_each), \
            {cursor}, {page}, {request_id} and the names of values.
            """
        ),
        (
            "query", .map(.fieldName, .fieldText, 0...32),
            .optional(example: .map(["limit": "100"])), "Query, without encoding."
        ),
        (
            "headers", .map(.headerName, .fieldText, 0...16),
            .optional(example: .map(["Idempotency-Key": "{request_id}"])),
            "Further headers. {request_id} is the same for every try of one request."
        ),
        ("json", .json, .optional(example: .json(["ids": ["{user_id}"]])), "Body in JSON."),
        (
            "form", .map(.fieldName, .fieldText, 0...32),
            .optional(example: .map(["email": "{user_id}"])), "Body as a form."
        )
    )

    private static let answerSettings = Setting.keys(
        .step,
        (
            "status", .numbers(200...299, 1...8), .optional(example: .numbers([200, 202])),
            "What a success answers. Not set: 200, 201, 202, 204."
        ),
        (
            "gone", .numbers(200...499, 1...4), .optional(example: .numbers([404])),
            "Statuses that say that nothing is there."
        ),
        (
            "gone_if", .map(.jsonPointer, .fieldText, 1...8),
            .optional(example: .map(["/error/code": "resource_missing"])),
            "What such an answer must say, by JSON pointer: any one of them."
        ),
        (
            "items", .text(.jsonPointer), .optional(example: .text("/data")),
            "Where the list of found things is."
        ),
        (
            "id", .text(.jsonPointer), .optional(example: .text("/id")),
            "Where the id is in each of them, or in the answer."
        ),
        (
            "match", .map(.jsonPointer, .fieldText, 1...8),
            .optional(example: .map(["/external_id": "{user_id}"])),
            "What a found thing must say to be the user's."
        ),
        (
            "next", .text(.nextPage), .optional(example: .text("/paging/next")),
            """
            Where the next page is: the value of {cursor}, or a URL below base_url; link-header is \
            rel="next".
            """
        ),
        (
            "first_page", .count(0...1, unit: ""), .optional(example: .count(1)),
            "First value of {page}. Not set: 1."
        ),
        (
            "more", .text(.jsonPointer), .optional(example: .text("/has_more")),
            "Where true says that there is another page."
        ),
        (
            "count", .text(.jsonPointer), .optional(example: .text("/deleted")),
            "Where the number of things is that were erased, or are left."
        )
    )

    private static let orderSettings = Setting.keys(
        .step,
        (
            "for_each", .text(.name), .optional(example: .text("contact")),
            "Make the call once for each id of that earlier step, as {id}."
        ),
        (
            "effect", .choice(HTTPStep.Effect.allCases.map(\.rawValue)),
            .optional(example: .text("repeatable")),
            """
            What making the call again does: nothing, nothing more, or something anew. GET reads, \
            PUT and DELETE are repeatable; POST and PATCH in erase must say it.
            """
        ),
        (
            "unless", .text(.name), .optional(example: .text("pending")),
            "The earlier step that finds what a call made once has started."
        ),
        (
            "until", .map(.jsonPointer, .fieldText, 1...8),
            .optional(example: .map(["/status": "done"])), "What a job says at its end."
        ),
        (
            "fails", .map(.jsonPointer, .fieldText, 1...8),
            .optional(example: .map(["/status": "failed"])),
            "What a failed job says, any one of them; the steps begin again."
        ),
        (
            "every", .duration(.seconds(1) ... .seconds(86_400)),
            .optional(example: .duration(.seconds(30))),
            "Pause between two questions for a job. Not set: 10s."
        ),
        (
            "promised", .duration(.seconds(1) ... .days(366)),
            .optional(example: .duration(.days(30))),
            "The vendor only promises to erase within this time: the receipt says accepted."
        ),
        (
            "keeps", .text(.sentence), .optional(example: .text("payments of the customer")),
            "What the vendor keeps, for receipts."
        )
    )
}
