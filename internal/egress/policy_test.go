package egress_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"holdfast/internal/egress"
	"holdfast/messages"
)

func parse(t testing.TB, r egress.Rules) *egress.Policy {
	t.Helper()
	p, err := egress.Parse(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	const denied, malformed, fine = messages.CodeForbidden, messages.CodeInvalidArgument, messages.Code("")
	free := parse(t, egress.Rules{Allow: []string{"localhost", "*.intra.test", "10.1.0.0/16", "fd00::/8"}, Deny: []string{"bad.test", "*.bad.test", "8.8.8.8"}})
	strict := parse(t, egress.Rules{})
	for _, c := range []struct {
		url         string
		strict, all messages.Code
	}{
		{"https://example.com/a?b#c", fine, fine},
		{"HTTPS://example.com", fine, fine},
		{"http://93.184.216.34:8080/", fine, fine},
		{"http://[2606:2800:220:1:248:1893:25c8:1946]/", fine, fine},
		{"about:blank", fine, fine},
		{"about:blank#x", fine, fine},
		{"data:text/html,x", fine, fine},
		{"blob:https://example.com/1", fine, fine},
		{"file:///etc/passwd", denied, denied},
		{"FILE:///etc/passwd", denied, denied},
		{"view-source:file:///etc/passwd", denied, denied},
		{"chrome://version", denied, denied},
		{"about:version", denied, denied},
		{"devtools://devtools/bundled/inspector.html", denied, denied},
		{"javascript:fetch('http://127.0.0.1')", denied, denied},
		{"example.com", denied, denied},
		{"http://127.0.0.1:9222/json", denied, denied},
		{"http://localhost:1", denied, fine},
		{"http://LOCALHOST.:1", denied, fine},
		{"http://a.localhost", denied, denied},
		{"http://[::1]/", denied, denied},
		{"http://[::ffff:127.0.0.1]/", denied, denied},
		{"http://[::]/", denied, denied},
		{"http://0.0.0.0/", denied, denied},
		{"http://169.254.169.254/latest/meta-data", denied, denied},
		{"http://[fe80::1%25eth0]/", denied, denied},
		{"http://10.1.2.3/", denied, fine},
		{"http://10.2.2.3/", denied, denied},
		{"http://192.168.0.1/", denied, denied},
		{"http://100.64.0.1/", denied, denied},
		{"http://[fd00::5]/", denied, fine},
		{"http://[64:ff9b::7f00:1]/", denied, denied},
		{"http://wiki.intra.test/", fine, fine},
		{"http://bad.test/", fine, denied},
		{"http://www.bad.test./", fine, denied},
		{"http://8.8.8.8/", fine, denied},
		{"http://2130706433/", malformed, malformed},
		{"http://0x7f000001/", malformed, malformed},
		{"http://0x7f.1/", malformed, malformed},
		{"http://127.1/", malformed, malformed},
		{"http://127.0.0.1./", malformed, malformed},
		{"http://0177.0.0.1/", malformed, malformed},
		{"http://１２７.0.0.1/", malformed, malformed},
		{"http:/127.0.0.1/", malformed, malformed},
		{"http:127.0.0.1", malformed, malformed},
		{"http:\\\\127.0.0.1", malformed, malformed},
		{"http://example.com\\@127.0.0.1/", malformed, malformed},
		{" http://127.0.0.1/", malformed, malformed},
		{"ht\ntp://127.0.0.1/", malformed, malformed},
		{"http://user@127.0.0.1/", denied, denied},
		{"http://example.com@127.0.0.1/", denied, denied},
	} {
		if got := messages.CodeOf(strict.CheckURL(c.url)); got != c.strict {
			t.Errorf("%s: %q, want %q", c.url, got, c.strict)
		}
		if got := messages.CodeOf(free.CheckURL(c.url)); got != c.all {
			t.Errorf("%s with more allowed: %q, want %q", c.url, got, c.all)
		}
	}
}

// FuzzCheckURL: what is allowed names a public host in words that a browser reads in
// the same way.
func FuzzCheckURL(f *testing.F) {
	for _, s := range []string{"http://example.com/", "http://127.1", "file:///x", "about:blank", "http://[::1]:80/", "http://a@b/", "https://xn--a/"} {
		f.Add(s)
	}
	p := parse(f, egress.Rules{})
	f.Fuzz(func(t *testing.T, raw string) {
		if p.CheckURL(raw) != nil {
			return
		}
		scheme, rest, _ := strings.Cut(strings.ToLower(raw), ":")
		switch scheme {
		case "about", "data", "blob":
		case "http", "https":
			if !strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "///") || strings.Contains(raw, "\\") {
				t.Errorf("%q", raw)
			}
		default:
			t.Errorf("%q", raw)
		}
		for _, inside := range []string{"//127.", "//localhost/", "//[::1]", "//10.0.0.1/", "//169.254."} {
			if strings.HasPrefix(rest, inside) && strings.Trim(strings.TrimPrefix(rest, inside), "0123456789.:/") == "" {
				t.Errorf("%q", raw)
			}
		}
	})
}

func TestRulesAreRefused(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]egress.Rules{
		"schemes: item 2":   {Schemes: []string{"http", "https:"}},
		"allow: item 1":     {Allow: []string{"http://planted/"}},
		"allow: item 2":     {Allow: []string{"a.test", "10.0.0.0/99"}},
		"deny: item 1":      {Deny: []string{"127.1"}},
		"allow: item 3":     {Allow: []string{"a", "b", "c:80"}},
		"cdp_hosts: item 1": {CDPHosts: []string{"planted:99999"}},
		"deny: item 2":      {Deny: []string{"a", ""}},
	} {
		_, err := egress.Parse(r)
		var rule *egress.RuleError
		if !errors.As(err, &rule) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "planted") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestANameThatTurns: a name may be public when it is looked at and private when it
// is connected to.
func TestANameThatTurns(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	n := &names{next: map[string][]string{
		"turns.test.": {"93.184.216.34", "127.0.0.1"}, "inside.test.": {"127.0.0.1"}, "wiki.intra.test.": {"127.0.0.1"},
	}}
	p := parse(t, egress.Rules{Allow: []string{"*.intra.test"}, CDPHosts: []string{"browser.intra.test:9222"}})
	p.Resolve(n.resolver(t))
	if err := p.CheckPage(t.Context(), "http://turns.test/", false); err != nil {
		t.Errorf("while it is public: %v", err)
	}
	if err := p.CheckPage(t.Context(), "http://turns.test/", false); messages.CodeOf(err) != messages.CodeForbidden {
		t.Errorf("once it has turned: %v", err)
	}
	for _, host := range []string{"turns.test", "inside.test", "127.0.0.1", "localhost", "::1", "::ffff:127.0.0.1"} {
		if c, err := p.Dial(t.Context(), "tcp", net.JoinHostPort(host, port)); !errors.Is(err, egress.ErrDenied) {
			t.Errorf("%s: %v, %v", host, c, err)
		}
	}
	c, err := p.Dial(t.Context(), "tcp", net.JoinHostPort("wiki.intra.test", port))
	if err != nil {
		t.Fatalf("a name that is allowed: %v", err)
	}
	_ = c.Close()
	if err := p.CheckPage(t.Context(), "http://unknown.test/", false); messages.CodeOf(err) != messages.CodeForbidden {
		t.Errorf("a name nothing is known of: %v", err)
	}
	if err := p.CheckPage(t.Context(), "http://unknown.test/", true); err != nil {
		t.Errorf("where the proxy decides: %v", err)
	}
}

// TestThisMachinesAddresses: what listens on all addresses is not reached by a
// public one of this machine.
func TestThisMachinesAddresses(t *testing.T) {
	t.Parallel()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	p := parse(t, egress.Rules{})
	for _, a := range all {
		ip, _, err := net.ParseCIDR(a.String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Dial(t.Context(), "tcp", net.JoinHostPort(ip.String(), "1")); !errors.Is(err, egress.ErrDenied) {
			t.Errorf("%s: %v", ip, err)
		}
	}
}

func TestDialBrowser(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	n := &names{next: map[string][]string{"pool.test.": {"127.0.0.1"}, "other.test.": {"127.0.0.1"}}}
	for _, c := range []struct {
		hosts   []string
		host    string
		allowed bool
	}{
		{nil, "127.0.0.1", false},
		{nil, "93.184.216.34", false},
		{[]string{"127.0.0.1"}, "127.0.0.1", true},
		{[]string{"127.0.0.0/8"}, "other.test", true},
		{[]string{"10.0.0.0/8"}, "other.test", false},
		{[]string{"pool.test"}, "pool.test", true},
		{[]string{"pool.test:" + port}, "pool.test", true},
		{[]string{"pool.test:1"}, "pool.test", false},
		{[]string{"pool.test"}, "other.test", false},
		{[]string{"pool.test"}, "127.0.0.1", false},
	} {
		p := parse(t, egress.Rules{CDPHosts: c.hosts})
		p.Resolve(n.resolver(t))
		if p.AllowsBrowser(c.host, port) != c.allowed && (c.allowed || len(c.hosts) == 0) {
			t.Errorf("%q: the text of %s: %v", c.hosts, c.host, !c.allowed)
		}
		conn, err := p.DialBrowser(context.Background(), "tcp", net.JoinHostPort(c.host, port))
		if (err == nil) != c.allowed || err != nil && !errors.Is(err, egress.ErrDenied) {
			t.Errorf("%q: %s: %v", c.hosts, c.host, err)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
}
