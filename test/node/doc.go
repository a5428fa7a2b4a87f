// Package node tests a whole node on the fake browser, as its callers see it.
package node
