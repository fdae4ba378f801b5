"""The files that docs/integrations prints work: a sign-in, a deletion, a provider's notification.

Each language's program is what its page prints, with the stage's socket in place of the installed one,
and a main part of the test. Judged by the provider's table, the application's rows and the answers.
"""

import json
import os
import re
import subprocess
import urllib.parse

from checks import HANG_S, comes_true
from receiver import OTHER_KEY, Receiver
from scenario import scenario
from stage import ROOT, Stage

PAGES = os.path.join(ROOT, "docs/integrations")
INSTALLED = "/run/expunged/submit.sock"
WAITS_S = 60

PYTHON_MAIN = """
import sys
command, *words = sys.argv[1:]
if command == "store":
    store_credential(*words)
elif command == "delete":
    print(delete_account(*words))
elif command == "state":
    print(state(*words))
elif command == "message":
    from messages import read_message
    print(read_message(json.loads(words[0]), sys.stdin.buffer.read(), words[1])["type"])
else:
    fields = json.loads(words[1])
    status, content_type, body = forward_notification(words[0], fields, sys.stdin.buffer.read())
    print(json.dumps({"status": status, "body": body}))
"""

NODE_MAIN = """
import { readFileSync } from "node:fs";
const [command, ...words] = process.argv.slice(2);
if (command === "store") await storeCredential(...words);
else if (command === "delete") console.log(await deleteAccount(...words));
else if (command === "state") console.log(await state(...words));
else if (command === "message") {
  const { readMessage } = await import("./messages.mjs");
  console.log(readMessage(JSON.parse(words[0]), readFileSync(0), words[1]).type);
}
else console.log(JSON.stringify(await forwardNotification(words[0], JSON.parse(words[1]), readFileSync(0))));
"""

RUBY_MAIN = """
command, *words = ARGV
case command
when "store" then Expunged.store_credential(*words)
when "delete" then puts Expunged.delete_account(*words)
when "state" then puts Expunged.state(*words)
when "message"
  require_relative "messages"
  puts Expunged.read_message(JSON.parse(words[0]), STDIN.read, words[1])["type"]
else
  fields = JSON.parse(words[1]).transform_keys { |name| name.split("-").map(&:capitalize).join("-") }
  status, _, body = Expunged.forward_notification(words[0], fields, STDIN.read)
  puts JSON.generate(status: status, body: body)
end
"""

PHP_MAIN = """
[, $command] = $argv;
$words = array_slice($argv, 2);
if ($command === 'store') {
    Expunged::storeCredential(...$words);
} elseif ($command === 'delete') {
    echo Expunged::deleteAccount(...$words), "\\n";
} elseif ($command === 'state') {
    echo Expunged::state(...$words), "\\n";
} elseif ($command === 'message') {
    require 'messages.php';
    echo expunged_message(json_decode($words[0], true), stream_get_contents(STDIN), $words[1])['type'], "\\n";
} else {
    $fields = [];
    foreach (json_decode($words[1], true) as $name => $value) {
        $fields[ucwords($name, '-')] = $value;
    }
    echo json_encode(Expunged::forwardNotification($words[0], $fields, stream_get_contents(STDIN))), "\\n";
}
"""

SWIFT_PACKAGE = """// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "app",
    dependencies: [
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "3.0.0"),
    ],
    targets: [.executableTarget(name: "app", dependencies: [
        .product(name: "AsyncHTTPClient", package: "async-http-client"), .product(name: "Crypto", package: "swift-crypto"),
    ])]
)
"""

SWIFT_MAIN = """
import Foundation
import NIOHTTP1

let words = Array(CommandLine.arguments.dropFirst(2))
do {
    switch CommandLine.arguments[1] {
    case "store":
        try await Expunged().storeCredential(userID: words[0], provider: words[1], kind: words[2], secret: words[3])
    case "delete": print(try await Expunged().deleteAccount(userID: words[0], key: words[1]))
    case "state": print(try await Expunged().state(requestID: words[0]))
    case "message":
        let fields = try JSONDecoder().decode([String: String].self, from: Data(words[0].utf8))
        print(try ExpungedMessage.read(
            fields, FileHandle.standardInput.readDataToEndOfFile(), secret: words[1]).type)
    default:
        let fields = try JSONDecoder().decode([String: String].self, from: Data(words[1].utf8))
        let answer = await Expunged().forwardNotification(
            provider: words[0], headers: HTTPHeaders(fields.map { ($0.key, $0.value) }),
            body: FileHandle.standardInput.readDataToEndOfFile())
        print("{\\"status\\": \\(answer.status)}")
    }
} catch let problem as ExpungedProblem {
    FileHandle.standardError.write(Data("\\(problem.status) \\(problem.code): \\(problem.detail)\\n".utf8))
    exit(1)
}
"""

GO_MAIN = """
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"

	"example.com/app/expunged"
)

func main() {
	ctx, words := context.Background(), os.Args[2:]
	var said string
	var err error
	switch os.Args[1] {
	case "store":
		err = expunged.StoreCredential(ctx, words[0], words[1], words[2], words[3])
	case "delete":
		said, err = expunged.DeleteAccount(ctx, words[0], words[1])
	case "state":
		said, err = expunged.State(ctx, words[0])
	case "message":
		fields, headers := map[string]string{}, http.Header{}
		if err = json.Unmarshal([]byte(words[0]), &fields); err == nil {
			for name, value := range fields {
				headers.Set(name, value)
			}
			body, _ := io.ReadAll(os.Stdin)
			var message *expunged.Message
			if message, err = expunged.ReadMessage(headers, body, words[1]); err == nil {
				said = message.Type
			}
		}
	default:
		var fields map[string]string
		err = json.Unmarshal([]byte(words[1]), &fields)
		headers := http.Header{}
		for name, value := range fields {
			headers.Set(name, value)
		}
		body, _ := io.ReadAll(os.Stdin)
		answer := expunged.ForwardNotification(ctx, words[0], headers, body)
		text, _ := json.Marshal(map[string]any{"status": answer.Status, "body": answer.Body})
		said = string(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(said)
}
"""


@scenario()
def integrations(checks, seed, with_swift=False):
    stage = Stage(checks, seed)
    receiver = Receiver(stage, "app")
    try:
        if not stage.starts():
            return
        for language, build in (("python", python), ("node", node), ("ruby", ruby), ("php", php), ("go", go),
                                *([("swift", swift)] if with_swift else [])):
            program = build(stage)
            if checks.check(f"{language}: the program of its page builds", isinstance(program, list), program):
                tries(checks, stage, language, program)
                reads(checks, receiver, language, program)
        if not with_swift:
            print("     swift.md is for `make integrations`: its HTTP client takes minutes to build")
    finally:
        stage.close()
        receiver.close()


def reads(checks, receiver, language, program):
    """The signature of a message is checked by the page's own code."""
    def run(headers, body, secret=receiver.secret):
        return subprocess.run([*program, "message", json.dumps(headers), secret], capture_output=True, input=body, timeout=HANG_S)

    known = len(receiver.seen)
    headers, body = next((one.headers, one.body) for one in receiver.seen[::-1] if one.type == "request.completed")
    done = run(headers, body)
    checks.equal(f"{language}: the message of the completed request is read", done.stdout.strip(), b"request.completed")
    wrong = {
        "a changed body": (headers, body.replace(b"completed", b"cancelled")),
        "another id": ({**headers, "webhook-id": "msg_1_0123456789abcdef"}, body),
        "an old time": ({**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 301)}, body),
        "another signature": ({**headers, "webhook-signature": "v1," + "A" * 43 + "="}, body),
    }
    for name, (fields, content) in wrong.items():
        done = run(fields, content)
        checks.check(f"{language}: a message with {name} is refused", done.returncode != 0 and b"request." not in done.stdout, done)
    checks.check(f"{language}: a message under another key is refused", run(headers, body, OTHER_KEY).returncode != 0)
    checks.check(f"{language}: messages arrived", known > 0)


def second(page, language, mark):
    """The block of a page that holds the code for messages."""
    with open(os.path.join(PAGES, page)) as file:
        blocks = re.findall(rf"^```{language}\n(.*?)^```", file.read(), re.M | re.S)
    return next(block for block in blocks[1:] if mark in block)


def printed(stage, page, language):
    """The first block of a page, with the stage's socket."""
    with open(os.path.join(PAGES, page)) as file:
        code = re.search(rf"^```{language}\n(.*?)^```", file.read(), re.M | re.S).group(1)
    assert INSTALLED in code, page
    return code.replace(INSTALLED, stage.path("runtime/submit.sock"))


def written(stage, name, text):
    path = stage.path(f"integrations/{name}")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path


def python(stage):
    written(stage, "messages.py", second("python.md", "python", "# messages.py"))
    return ["python3", written(stage, "expunged.py", printed(stage, "python.md", "python") + PYTHON_MAIN)]


def node(stage):
    written(stage, "messages.mjs", second("node.md", "js", "// messages.mjs"))
    return ["node", written(stage, "expunged.mjs", printed(stage, "node.md", "js") + NODE_MAIN)]


def ruby(stage):
    written(stage, "messages.rb", second("ruby.md", "ruby", "# messages.rb"))
    return ["ruby", "-W2", written(stage, "expunged.rb", printed(stage, "ruby.md", "ruby") + RUBY_MAIN)]


def php(stage):
    written(stage, "messages.php", second("php.md", "php", "// messages.php"))
    return ["php", "-d", "display_errors=stderr", written(stage, "Expunged.php", printed(stage, "php.md", "php") + PHP_MAIN)]


def go(stage):
    written(stage, "go/go.mod", "module example.com/app\n\ngo 1.19\n")
    written(stage, "go/expunged/expunged.go", printed(stage, "go.md", "go"))
    written(stage, "go/expunged/messages.go", second("go.md", "go", "func ReadMessage"))
    written(stage, "go/main.go", GO_MAIN)
    place = stage.path("integrations/go")
    done = subprocess.run(
        ["sh", "-c", "go vet ./... && go build -o main ."], cwd=place, capture_output=True, text=True, timeout=300,
        env={**os.environ, "HOME": place, "GOFLAGS": "-mod=mod", "GOPROXY": "off", "CGO_ENABLED": "0"})
    return [os.path.join(place, "main")] if done.returncode == 0 else done.stderr


def swift(stage):
    """Built beside the service's own build, so that later runs take seconds."""
    place = os.path.join(ROOT, ".build/integration-swift")
    sources = os.path.join(place, "Sources/app")
    os.makedirs(sources, exist_ok=True)
    for path, text in ((os.path.join(place, "Package.swift"), SWIFT_PACKAGE), (os.path.join(sources, "main.swift"), SWIFT_MAIN),
                       (os.path.join(sources, "Expunged.swift"), printed(stage, "swift.md", "swift")),
                       (os.path.join(sources, "Messages.swift"), second("swift.md", "swift", "// Messages.swift"))):
        with open(path, "w") as file:
            file.write(text)
    done = subprocess.run(["swift", "build"], cwd=place, capture_output=True, text=True, timeout=1800)
    return [os.path.join(place, ".build/debug/app")] if done.returncode == 0 else done.stdout[-2000:] + done.stderr[-2000:]


def tries(checks, stage, language, program):
    def run(*words, input=None):
        return subprocess.run([*program, *words], capture_output=True, text=True, timeout=HANG_S, input=input)

    deleted, notified = stage.new_users(2)
    for user in (deleted, notified):
        code = stage.sandbox.sign_in(user)["code"]
        done = run("store", user, "apple", "authorization_code", code)
        checks.check(f"{language}: a sign-in is stored", done.returncode == 0, done.stderr)
    checks.check(f"{language}: both codes become live grants", comes_true(
        lambda: {deleted, notified} <= stage.sandbox.live_grants("apple"), WAITS_S))

    strange = f"{deleted}/ a+b%2F\u00e9"
    stage.canaries.add(strange)
    done = run("store", strange, "apple", "refresh_token", stage.new_tokens(1)[0]["refresh_token"])
    status, known = stage.http("GET", f"/v1/users/{urllib.parse.quote(strange, safe='')}/identities")
    checks.check(f"{language}: a user id may hold what a path may not", status == 200 and len(known["items"]) == 1,
                 (done.stderr, known))

    first = run("delete", deleted, f"delete-{deleted}")
    again = run("delete", deleted, f"delete-{deleted}")
    checks.check(f"{language}: a deletion is submitted", first.returncode == 0, first.stderr)
    checks.equal(f"{language}: the same key is the same request", again.stdout, first.stdout)
    checks.check(f"{language}: the request completes", comes_true(
        lambda: run("state", first.stdout.strip()).stdout.strip() == "completed", WAITS_S))
    checks.check(f"{language}: the provider's grant is gone", deleted not in stage.sandbox.live_grants("apple"))
    checks.check(f"{language}: the rows are gone", deleted not in stage.rows_left())

    wrong = run("store", notified, "nowhere", "authorization_code", "c")
    checks.check(f"{language}: an error has status and code", wrong.returncode != 0 and "404 unknown_provider" in wrong.stderr,
                 wrong.stderr)

    sent = stage.sandbox.ask("withdraw-consent", "--user", notified, "--event", "account-deleted")
    fields = json.dumps({"content-type": "application/json"})
    forged = run("forward", "apple", fields, input=json.dumps({"payload": sent["payload"][:-4] + "AAAA"}))
    checks.equal(f"{language}: a forged notification gets the refusal for its sender",
                 json.loads(forged.stdout or "{}").get("status"), 400)
    checks.check(f"{language}: it erases nothing", notified in stage.rows_left())
    done = run("forward", "apple", fields, input=json.dumps(sent))
    checks.equal(f"{language}: the service accepts a provider's notification",
                 json.loads(done.stdout or "{}").get("status"), 200)
    checks.check(f"{language}: the reported account is erased", comes_true(
        lambda: notified not in stage.rows_left(), WAITS_S))
