package check_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"sigs.k8s.io/yaml"
)

// composed is a Compose file as the engine reads it.
func composed(t *testing.T, file string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{repo("deploy", "compose", file)}, cli.WithName("holdfast"))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestCompose(t *testing.T) {
	t.Parallel()
	project := composed(t, "compose.yaml")
	if names := project.ServiceNames(); !slices.Equal(names, []string{"grafana", "holdfast", "prometheus"}) {
		t.Fatal(names)
	}
	for name, s := range project.Services {
		for _, p := range s.Ports {
			if p.HostIP != "127.0.0.1" {
				t.Errorf("%s: other machines reach %s:%s", name, p.HostIP, p.Published)
			}
		}
		if s.HealthCheck == nil || s.MemLimit == 0 || !slices.Contains(s.CapDrop, "ALL") || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s: without a health check, a limit, or with privileges", name)
		}
		if s.Build == nil && !strings.Contains(s.Image, ":") {
			t.Errorf("%s: the image has no tag", name)
		}
		for _, v := range s.Volumes {
			if v.Type == types.VolumeTypeBind {
				if info, err := os.Stat(v.Source); err != nil || !info.Mode().IsRegular() {
					t.Errorf("%s: %s: %v", name, v.Source, err)
				}
			}
		}
	}
	s := project.Services["holdfast"]
	e := effective(t, s.Command, "", nil)
	if !s.ReadOnly || s.ShmSize < 1<<30 || time.Duration(*s.StopGracePeriod) < e.duration(t, "drain.timeout")+5*time.Second {
		t.Errorf("%+v", s)
	}
	if !slices.Contains(s.SecurityOpt, "seccomp=../docker/seccomp.json") {
		t.Error(s.SecurityOpt)
	}
	// Prometheus comes by the service's name, which the node has to serve.
	var scrape struct {
		Jobs []struct {
			Name    string `json:"job_name"`
			Targets []struct {
				Targets []string `json:"targets"`
			} `json:"static_configs"`
		} `json:"scrape_configs"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "deploy", "compose", "prometheus.yml")), &scrape); err != nil {
		t.Fatal(err)
	}
	host, port, _ := strings.Cut(scrape.Jobs[0].Targets[0].Targets[0], ":")
	if scrape.Jobs[0].Name != "holdfast" || !slices.Contains(e.texts("allow_hosts"), host) || !strings.HasSuffix(e.text("metrics_listen"), ":"+port) {
		t.Errorf("%+v does not reach %v at %s", scrape, e.texts("allow_hosts"), e.text("metrics_listen"))
	}
	shared := false
	for n := range s.Networks {
		_, ok := project.Services["prometheus"].Networks[n]
		shared = shared || ok
	}
	if !shared {
		t.Error("Prometheus and the node share no network")
	}
}
