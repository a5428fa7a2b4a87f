// Package stage is what is measured on: a real Chromium, a proxy that cuts its
// links, and a fake browser in a process of its own, which answers faster than
// any real one and so shows what a client costs.
package stage
