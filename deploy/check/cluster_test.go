package check_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
)

// TestComposeOfACluster: each node is a voter under the name of its service, has the certificate that
// the first service makes for it, and keeps its state in a volume of its own.
func TestComposeOfACluster(t *testing.T) {
	t.Parallel()
	project := composed(t, "cluster.yaml")
	if names := project.ServiceNames(); !slices.Equal(names, []string{"a", "b", "c", "certs"}) {
		t.Fatal(names)
	}
	made := project.Services["certs"]
	// What it runs, in another directory: three files for all, and two for each node.
	if out, errs, err := holdfast(nil, append(slices.Clone(made.Command[:2]), append([]string{t.TempDir()}, made.Command[3:]...)...)...); err != nil || strings.Count(out, "\n") != 9 {
		t.Errorf("%v: %s %s", err, out, errs)
	}
	hasVolume := func(s types.ServiceConfig, volume, at string, isReadOnly bool) bool {
		return slices.ContainsFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool {
			return v.Type == types.VolumeTypeVolume && v.Source == volume && v.Target == at && v.ReadOnly == isReadOnly
		})
	}
	if !hasVolume(made, "certs", "/var/lib/holdfast", false) || made.Command[2] != "/var/lib/holdfast/certs" {
		t.Errorf("%+v", made)
	}
	var ports []string
	for _, name := range []string{"a", "b", "c"} {
		s := project.Services[name]
		env := map[string]string{}
		for k, v := range s.Environment {
			env[k] = *v
		}
		e := effective(t, s.Command, "", env)
		if strings.Join(e.texts("cluster.voters"), ",") != "a=a:7171,b=b:7171,c=c:7171" || e.text("node_name") != name || !strings.HasSuffix(e.text("cluster.listen"), ":7171") {
			t.Errorf("%s: %v", name, e)
		}
		for key, want := range map[string]string{"cert": name + ".crt", "key": name + ".key", "ca": "ca.crt", "seal_key_file": "seal.key"} {
			if got := e.text("cluster." + key); got != "/run/certs/certs/"+want {
				t.Errorf("%s: %s is %s", name, key, got)
			}
		}
		if !slices.Contains(made.Command, name+"="+name) || s.DependsOn["certs"].Condition != types.ServiceConditionCompletedSuccessfully {
			t.Errorf("%s has no certificate", name)
		}
		if !hasVolume(s, "state-"+name, "/var/lib/holdfast", false) || !hasVolume(s, "certs", "/run/certs", true) {
			t.Errorf("%s: %+v", name, s.Volumes)
		}
		if !s.ReadOnly || s.ShmSize < 1<<30 || s.HealthCheck == nil || s.MemLimit == 0 || !slices.Contains(s.CapDrop, "ALL") || time.Duration(*s.StopGracePeriod) < e.duration(t, "drain.timeout")+5*time.Second {
			t.Errorf("%+v", s)
		}
		if len(s.Ports) != 1 || s.Ports[0].HostIP != "127.0.0.1" || slices.Contains(ports, s.Ports[0].Published) {
			t.Errorf("%s: %+v", name, s.Ports)
		}
		ports = append(ports, s.Ports[0].Published)
	}
}
