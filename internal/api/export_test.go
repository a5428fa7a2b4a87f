package api

import "strings"

// RouteTable shows the inventory to its test.
func RouteTable() []struct{ Method, Path, Class string } {
	var out []struct{ Method, Path, Class string }
	for _, rt := range append(append(append([]route{}, routes...), uiRoutes()...), metricsRoute) {
		out = append(out, struct{ Method, Path, Class string }{rt.method, strings.TrimSuffix(rt.path, "{$}"), rt.class})
	}
	return out
}
