// Package checkup finds out what a browser behind a DevTools address can do for a
// task: whether its dialogs can be answered, whether the bridge works, whether it
// takes a second client. It opens a tab of its own, tries, and closes it; no other
// page is touched.
package checkup
