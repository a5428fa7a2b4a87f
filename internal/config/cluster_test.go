package config_test

import (
	"maps"
	"strings"
	"testing"

	"holdfast/internal/config"
)

// clustered are the flags of a node that joins a cluster.
func clustered(more map[string][]string) config.Sources {
	flags := map[string][]string{
		"node-name": {"a"}, "cluster-voters": {"a=127.0.0.1:7071,b=h.test:7071", "c=[::1]:7071"},
		"cluster-cert": {"a.crt"}, "cluster-key": {"a.key"}, "cluster-ca": {"ca.crt"},
	}
	maps.Copy(flags, more)
	for name, values := range flags {
		if values == nil {
			delete(flags, name)
		}
	}
	return config.Sources{Flags: flags}
}

func TestClusterIsOffByDefault(t *testing.T) {
	t.Parallel()
	if load(t, config.Sources{}).Cluster.Enabled {
		t.Error("a node without settings joins a cluster")
	}
	e := load(t, clustered(nil))
	if !e.Cluster.Enabled || e.Origin("cluster.enabled").Where != "--cluster-voters" {
		t.Errorf("voters do not make a cluster: %+v", e.Cluster)
	}
	if load(t, clustered(map[string][]string{"cluster-enabled": {"false"}})).Cluster.Enabled {
		t.Error("cluster.enabled does not win over cluster.voters")
	}
	e = load(t, clustered(map[string][]string{"cluster-voters": nil, "cluster-listen": {"127.0.0.1:9"}, "cluster-store": {"http://127.0.0.1:2379, https://h.test:2379"}}))
	if got := e.Cluster.Endpoints(); !e.Cluster.Enabled || len(got) != 2 || got[1] != "https://h.test:2379" {
		t.Errorf("endpoints: %v", got)
	}
}

func TestClusterAddresses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags             map[string][]string
		listen, advertise string
	}{
		"a voter":                     {nil, "127.0.0.1:7071", "127.0.0.1:7071"},
		"a voter that listens on all": {map[string][]string{"cluster-listen": {":7071"}}, ":7071", "127.0.0.1:7071"},
		"another node":                {map[string][]string{"node-name": {"d"}, "cluster-listen": {"127.0.0.2:1"}}, "127.0.0.2:1", "127.0.0.2:1"},
		"another node behind a name":  {map[string][]string{"node-name": {"d"}, "cluster-listen": {"0.0.0.0:1"}, "cluster-advertise": {"d.test:2"}}, "0.0.0.0:1", "d.test:2"},
		"another node's address":      {map[string][]string{"node-name": {"d"}, "cluster-advertise": {"d.test:2"}}, "d.test:2", "d.test:2"},
	} {
		e := load(t, clustered(c.flags))
		if listen, advertise := e.Cluster.Addresses(e.NodeName); listen != c.listen || advertise != c.advertise {
			t.Errorf("%s listens on %s and is reached at %s", name, listen, advertise)
		}
	}
}

func TestClusterIsRefused(t *testing.T) {
	t.Parallel()
	for want, flags := range map[string]map[string][]string{
		"--node-name: must be 1 to 64":                                      {"node-name": {"A planted"}},
		"--cluster-voters: has 2 voters":                                    {"cluster-voters": {"a=h:1,b=h:2"}},
		"--cluster-voters: has a or its address twice":                      {"cluster-voters": {"a=h:1,a=h:2,c=h:3"}},
		"--cluster-voters: has b or its address twice":                      {"cluster-voters": {"a=h:1,b=h:1,c=h:3"}},
		"--cluster-voters: must be NAME=HOST:PORT":                          {"cluster-voters": {"planted"}},
		"--cluster-voters: of a must have a port":                           {"cluster-voters": {"a=h:65534"}},
		"--cluster-voters: of a must be an address that":                    {"cluster-voters": {"a=0.0.0.0:1"}},
		"--cluster-store: must be embedded, or":                             {"cluster-store": {"https://user:planted@h:1"}},
		"--cluster-store: must be https":                                    {"cluster-store": {"http://h.test:1"}},
		"--cluster-voters: begins a cluster, which needs cluster.cert":      {"cluster-cert": nil},
		"--cluster-enabled: begins a cluster, which needs cluster.voters":   {"cluster-voters": nil, "cluster-enabled": {"true"}, "cluster-listen": {"h:1"}},
		"--cluster-listen: must have a port from 1 to 65532":                {"cluster-listen": {"h:0"}},
		"--cluster-advertise: must be an address that the other":            {"cluster-advertise": {":1"}},
		"--cluster-voters: begins a cluster, which needs cluster.listen":    {"node-name": {"d"}},
		"--cluster-voters: begins a cluster, which needs cluster.advertise": {"node-name": {"d"}, "cluster-listen": {":1"}},
		"--cluster-name: must be 1 to 64":                                   {"cluster-name": {"a/planted"}},
	} {
		_, err := config.Load(clustered(flags))
		if err == nil || strings.Contains(err.Error(), "planted") {
			t.Errorf("%v: %v", flags, err)
			continue
		}
		if got := err.Error(); !strings.Contains(got, want) {
			t.Errorf("%v:\n got %s\nwant %s", flags, got, want)
		}
	}
}
