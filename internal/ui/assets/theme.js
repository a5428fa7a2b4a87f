// Runs before the first paint, as a classic script: a page that flashes white in
// a dark room is a page one does not leave open.
"use strict";
try {
  const theme = localStorage.getItem("holdfast-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // No storage: the system's choice it is.
}
