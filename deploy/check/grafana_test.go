package check_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

type dashboard struct {
	Title         string  `json:"title"`
	UID           string  `json:"uid"`
	SchemaVersion int     `json:"schemaVersion"`
	Panels        []panel `json:"panels"`
	Templating    struct {
		List []struct {
			Name string `json:"name"`
			Type string `json:"type"`
		} `json:"list"`
	} `json:"templating"`
	Annotations struct {
		List []struct {
			Expr string `json:"expr"`
		} `json:"list"`
	} `json:"annotations"`
}

type panel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	GridPos     struct {
		H int `json:"h"`
		W int `json:"w"`
		X int `json:"x"`
		Y int `json:"y"`
	} `json:"gridPos"`
	Collapsed bool    `json:"collapsed"`
	Panels    []panel `json:"panels"` // of a row that is closed
	Targets   []struct {
		RefID      string            `json:"refId"`
		Expr       string            `json:"expr"`
		Legend     string            `json:"legendFormat"`
		Datasource map[string]string `json:"datasource"`
	} `json:"targets"`
	FieldConfig struct {
		Defaults struct {
			Unit       string `json:"unit"`
			Thresholds struct {
				Steps []json.RawMessage `json:"steps"`
			} `json:"thresholds"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
}

// units are those of Grafana's that the dashboard uses.
var units = []string{"none", "s", "bytes", "Bps", "ops", "cpm", "reqps", "percentunit"}

// opened is the dashboard with every row open: below a closed one the panels of the
// rows that follow move down.
func opened(t *testing.T, panels []panel) []panel {
	t.Helper()
	var out []panel
	var closed []string
	down := 0
	for _, p := range panels {
		p.GridPos.Y += down
		out = append(out, p)
		if p.Collapsed {
			closed = append(closed, p.Title)
		}
		for _, q := range p.Panels {
			q.GridPos.Y += down
			out = append(out, q)
		}
		if n := len(p.Panels); n > 0 {
			last := p.Panels[n-1].GridPos
			down += last.Y + last.H - p.GridPos.Y - 1 + down
		}
	}
	if want := []string{"Upstream", "HTTP", "Actors", "Browsers", "Runtime", "Cluster"}; !slices.Equal(closed, want) {
		t.Errorf("closed rows %v, want %v", closed, want)
	}
	return out
}

func TestDashboard(t *testing.T) {
	t.Parallel()
	var d dashboard
	if err := json.Unmarshal([]byte(read(t, "deploy", "grafana", "holdfast.json")), &d); err != nil {
		t.Fatal(err)
	}
	if d.UID == "" || d.SchemaVersion < 36 {
		t.Errorf("uid %q, schema %d", d.UID, d.SchemaVersion)
	}
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
	}
	if !slices.Equal(variables, []string{"datasource", "job", "instance"}) {
		t.Errorf("variables %v", variables)
	}
	known := contract(t)
	for _, a := range d.Annotations.List {
		if a.Expr != "" {
			checkExpr(t, known, "annotation", a.Expr)
		}
	}
	ids, cells := map[int]bool{}, map[[2]int]string{}
	var rows []string
	row := ""
	for _, p := range opened(t, d.Panels) {
		if ids[p.ID] || p.ID == 0 {
			t.Errorf("%s: the id %d is taken", p.Title, p.ID)
		}
		ids[p.ID] = true
		if g := p.GridPos; g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("%s does not fit: %+v", p.Title, g)
		}
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other := cells[at]; other != "" {
					t.Fatalf("%s lies over %s", p.Title, other)
				}
				cells[at] = p.Title
			}
		}
		if p.Type == "row" {
			row = p.Title
			rows = append(rows, row)
			continue
		}
		where := row + ", " + p.Title
		if p.Title == "" || p.Description == "" || !slices.Contains(units, p.FieldConfig.Defaults.Unit) || len(p.FieldConfig.Defaults.Thresholds.Steps) == 0 {
			t.Errorf("%s: without title, description, unit or thresholds", where)
		}
		if len(p.Targets) == 0 {
			t.Errorf("%s shows nothing", where)
		}
		refs := map[string]bool{}
		for _, q := range p.Targets {
			if refs[q.RefID] || q.Legend == "" || q.Datasource["uid"] != "${datasource}" {
				t.Errorf("%s: query %s", where, q.RefID)
			}
			refs[q.RefID] = true
			if !strings.Contains(q.Expr, `job=~"$job",instance=~"$instance"`) {
				t.Errorf("%s: %s does not go by the variables", where, q.Expr)
			}
			checkExpr(t, known, where, q.Expr)
		}
	}
	if want := []string{"Availability of answers", "Capacity", "Dialogs", "Page health", "Upstream", "HTTP", "Actors", "Browsers", "Runtime", "Cluster"}; !slices.Equal(rows, want) {
		t.Errorf("rows %v, want %v", rows, want)
	}
}
