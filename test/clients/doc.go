// Package clients drives a browser with the CDP clients that people use, unmodified: each has
// a program of the same steps, which has to pass on Chromium itself and then through a task.
//
// The programs of Playwright, Puppeteer, agent-browser, chrome-devtools-mcp and Playwright's
// MCP server stand in the folder programs and run on Node.js; those of chromedp and rod are
// here, and run as the test binary under another name. Every program is given a [Place] and
// prints one line of JSON a step.
//
// Clients of the Model Context Protocol drive a task by its tools: the protocol's own SDK for
// TypeScript, and that of an agent framework.
//
// The module is one of its own, so that the product depends on none of the clients.
package clients
