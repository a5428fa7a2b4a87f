// Buys something on a page that asks twice. Needs nothing but Node.js.

type Dialog = { type: string; message: string; closed_by: string };
type Artifact = { artifact_id: string; kind: string; size: number };
type Result = { pending_dialogs: Dialog[]; artifacts: Artifact[]; data: { value: unknown } };

const node = process.env.HOLDFAST_NODE ?? "http://127.0.0.1:7070";
const task = "example-typescript";
const page = `<title>Shop</title><input aria-label=Name><button onclick="done.textContent =
confirm('Keep the cart?') && prompt('Coupon?') + ' for ' + document.querySelector('input').value">Buy</button><p id=done>`;

/** call throws what the node says no with: its code is stable. */
async function call(method: string, path: string, body?: object): Promise<Response> {
  const answer = await fetch(`${node}/v1/tasks/${path}`, {
    method,
    headers: { Authorization: `Bearer ${process.env.HOLDFAST_TOKEN}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) {
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    throw new Error(`${error.code}: ${error.message}`);
  }
  return answer;
}

async function tool(name: string, input: object = {}): Promise<Result> {
  return (await (await call("POST", `${task}/tools/${name}`, input)).json()) as Result;
}

await call("PUT", task, { dialog_rules: [{ type: "confirm", message: "keep *", action: "accept" }] });
try {
  await tool("browser_navigate", { url: "data:text/html," + encodeURIComponent(page) });
  await tool("browser_type", { selector: "input", text: "Ada" });
  const clicked = await tool("browser_click", { role: "button", name: "Buy" });
  for (const dialog of clicked.pending_dialogs) console.log(dialog.type, dialog.message);
  await tool("browser_dialog", { action: "accept", prompt_text: "SAVE10" });
  console.log((await tool("browser_evaluate", { expression: "done.textContent" })).data.value);
  const shot = (await tool("browser_take_screenshot")).artifacts[0];
  const picture = await (await call("GET", `${task}/artifacts/${shot.artifact_id}`)).arrayBuffer();
  console.log(shot.kind, picture.byteLength === shot.size);
  const { recent_dialogs } = (await (await call("GET", `${task}/snapshot`)).json()) as { recent_dialogs: Dialog[] };
  console.log(recent_dialogs.map((dialog) => dialog.closed_by));
} finally {
  await call("DELETE", task);
}
