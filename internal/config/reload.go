package config

import (
	"reflect"
	"slices"
)

// Change is a setting that another configuration has another value for. The
// values are as they would be written, credentials masked.
type Change struct{ Path, From, To string }

// Reload returns the configuration that holds once next has been read: with
// what SIGHUP changes from next, and the rest as it was. applied are the
// changes, refused those that need a restart.
func (e *Effective) Reload(next *Effective) (now *Effective, applied, refused []Change) {
	out := *e
	out.origins, out.Warnings = slices.Clone(e.origins), next.Warnings
	to := reflect.ValueOf(&out.Config).Elem()
	for i := range table.keys {
		k := &table.keys[i]
		was, is := e.value(k), next.value(k)
		if reflect.DeepEqual(was, is) {
			if k.CanReload {
				out.origins[i] = next.origins[i]
			}
			continue
		}
		c := Change{Path: k.Path, From: k.show(was), To: k.show(is)}
		if !k.CanReload {
			refused = append(refused, c)
			continue
		}
		to.FieldByIndex(k.index).Set(reflect.ValueOf(is))
		out.origins[i] = next.origins[i]
		applied = append(applied, c)
	}
	return &out, applied, refused
}

func (e *Effective) value(k *Key) any {
	return reflect.ValueOf(&e.Config).Elem().FieldByIndex(k.index).Interface()
}
