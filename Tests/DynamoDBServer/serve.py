"""moto, with what a table of Amazon does and moto does not, by the first word of a table's name:

slow-   every second call asks for a pause, and a BatchWriteItem leaves half of its items
late-   an index does not list items that have the attribute `fresh`
stale-  an index also lists items of which the attribute `was` has the value
locked- every call but DescribeTable is refused
"""

import sys

from moto.core.exceptions import JsonRESTError
from moto.core.responses import ActionResult
from moto.dynamodb.responses import DynamoHandler
from moto.server import main

NAMES = ["query", "scan", "get_item", "delete_item", "update_item", "batch_write_item"]
calls = {}


def table(handler):
    body = handler.body
    return body.get("TableName") or next(iter(body.get("RequestItems", {"": 0})))


def wrap(name):
    original = getattr(DynamoHandler, name)

    def call(self):
        place = table(self)
        calls[place] = calls.get(place, 0) + 1
        if place.startswith("locked-"):
            raise JsonRESTError("AccessDeniedException", "not authorized to perform this")
        if place.startswith("slow-") and calls[place] % 2:
            raise JsonRESTError("ProvisionedThroughputExceededException", "the level of capacity is exceeded")
        if place.startswith("slow-") and name == "batch_write_item":
            requests = self.body["RequestItems"][place]
            half = (len(requests) + 1) // 2
            self.body["RequestItems"] = {place: requests[:half]}
            original(self)
            return ActionResult({"UnprocessedItems": {place: requests[half:]} if requests[half:] else {}})
        if name == "query" and "IndexName" in self.body and place.startswith(("late-", "stale-")):
            return ActionResult(listing(self, place))
        return original(self)

    setattr(DynamoHandler, name, call)


def listing(handler, place):
    (attribute,) = [key for key in handler.body["ExpressionAttributeNames"].values()
                    if handler.body["KeyConditionExpression"].startswith(
                        [n for n, v in handler.body["ExpressionAttributeNames"].items() if v == key][0] + " ")]
    wanted = handler.body["ExpressionAttributeValues"][":v0"]
    table = handler.dynamodb_backend.get_table(place)
    found = []
    for item in table.all_items():
        attributes = {name: value.to_json() for name, value in item.attrs.items()}
        is_own = attributes.get(attribute) == wanted
        was_own = place.startswith("stale-") and attributes.get("was") == wanted
        is_hidden = place.startswith("late-") and "fresh" in attributes
        if (is_own or was_own) and not is_hidden:
            found.append({**{key: attributes[key] for key in table.table_key_attrs}, attribute: wanted})
    return {"Items": found, "Count": len(found), "ScannedCount": len(found)}


for name in NAMES:
    wrap(name)

if __name__ == "__main__":
    sys.exit(main())
