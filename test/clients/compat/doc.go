// Command compat runs Playwright's own tests that drive a page over CDP, directly and through
// a task of a node. It prints both counts and each difference:
//
//	make compat PLAYWRIGHT=DIR
//
// DIR is a checkout of microsoft/playwright at the version of @playwright/test in
// package.json. Its test files are copied to a temporary folder and never changed: what they
// launch is a connection to a browser that runs already (playwright.config.mjs).
package main
