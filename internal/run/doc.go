// Package run runs scripts of agents beside a page: JavaScript in a sandbox, with Puppeteer's
// page and browser over a connection of the gateway, and the node's tools as tab.
package run
