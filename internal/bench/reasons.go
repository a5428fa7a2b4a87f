package main

// reasons say, by measurement and row, why a goal is missed, as its profile has
// it. They are shown only where it is.
var reasons = map[string]string{}
