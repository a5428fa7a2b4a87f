"""Buys something on a page that asks twice. Needs nothing but Python's standard library."""

import json
import os
import urllib.error
import urllib.parse
import urllib.request

NODE = os.environ.get("HOLDFAST_NODE", "http://127.0.0.1:7070")
PAGE = """<title>Shop</title><input aria-label=Name><button onclick="done.textContent =
confirm('Keep the cart?') && prompt('Coupon?') + ' for ' + document.querySelector('input').value">Buy</button><p id=done>"""


class Refused(Exception):
    """What the node says no with: its code is stable."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


def call(method, path, body=None):
    request = urllib.request.Request(
        f"{NODE}/v1/tasks/{path}",
        None if body is None else json.dumps(body).encode(),
        {"Authorization": "Bearer " + os.environ["HOLDFAST_TOKEN"]},
        method=method,
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        problem = json.load(error).get("error")
        raise Refused(problem["code"], problem["message"]) from None


def tool(which, /, **given):
    return json.loads(call("POST", f"{TASK}/tools/{which}", given))


TASK = "example-python"
call("PUT", TASK, {"dialog_rules": [{"type": "confirm", "message": "keep *", "action": "accept"}]})
try:
    tool("browser_navigate", url="data:text/html," + urllib.parse.quote(PAGE))
    tool("browser_type", selector="input", text="Ada")
    clicked = tool("browser_click", role="button", name="Buy")
    for dialog in clicked["pending_dialogs"]:
        print(dialog["type"], dialog["message"])
    tool("browser_dialog", action="accept", prompt_text="SAVE10")
    print(tool("browser_evaluate", expression="done.textContent")["data"]["value"])
    shot = tool("browser_take_screenshot")["artifacts"][0]
    picture = call("GET", f"{TASK}/artifacts/{shot['artifact_id']}")
    print(shot["kind"], len(picture) == shot["size"])
    closed = json.loads(call("GET", f"{TASK}/snapshot"))["recent_dialogs"]
    print([dialog["closed_by"] for dialog in closed])
finally:
    call("DELETE", TASK)
