// Package config is the configuration of a node: what can be set, where it is
// read from, and what holds in the end.
//
//	Config (struct tags) ──► Keys: one table
//	                          │
//	file ─┐                   ├──► flags of serve
//	env  ─┼─► Load ─► Effective ─► config print
//	flags ┘                   └──► docs/configuration.md
//
// # Invariants
//
//   - A setting is one field of [Config]. Its key in the file, its variable,
//     its flag, default, bounds, unit and description are the field's tags, and
//     nothing is said of a setting anywhere else.
//   - A flag wins over the environment, the environment over the file, the file
//     over the default. Every value knows where it came from.
//   - What does not make sense is refused, with the line and column, the
//     variable or the flag: a misspelt limit that silently does not hold is
//     worse than none.
//   - A message never repeats a value: it may be a credential.
package config
