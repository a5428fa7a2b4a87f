package api

// RouteTable shows the inventory to its test.
func RouteTable() []struct{ Method, Path, Class string } {
	var out []struct{ Method, Path, Class string }
	for _, rt := range append(append([]route{}, routes...), metricsRoute) {
		out = append(out, struct{ Method, Path, Class string }{rt.method, rt.path, rt.class})
	}
	return out
}
