package gate_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"holdfast/internal/gate"
	"holdfast/internal/shed"
	"holdfast/internal/token"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counted is an observer that keeps what it hears.
type counted struct {
	mu      sync.Mutex
	refused []string
}

func (c *counted) AuthFailed(class string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = append(c.refused, class)
}
func (c *counted) StreamOpened()  {}
func (c *counted) StreamClosed()  {}
func (c *counted) Cut(shed.Bound) {}

// cdp is an entrance for clients that cannot send headers.
var cdp = gate.Route{Class: "cdp", Path: "/cdp/{id}", TokenParam: "token", IsAdminInURL: true, HasTickets: true}

type bench struct {
	*testing.T
	*gate.Gate
	admin    token.Admin
	observer counted
}

func setup(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, admin: token.Generate()}
	g, err := gate.New(gate.Config{Token: b.admin, Observer: &b.observer})
	if err != nil {
		t.Fatal(err)
	}
	b.Gate = g
	return b
}

// request carries the header, where there is one, and the query.
func request(header string, query ...string) *http.Request {
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		values.Add(query[i], query[i+1])
	}
	r := httptest.NewRequest(http.MethodGet, "/cdp/one?"+values.Encode(), nil)
	r.Host = "127.0.0.1:7070"
	if header != "" {
		r.Header.Set("Authorization", "Bearer "+header)
	}
	return r
}

// admitted asks for the caller of a request that has to be let in.
func (b *bench) admitted(r *http.Request, route gate.Route) gate.Caller {
	b.Helper()
	c, err := b.Authenticate(r, route)
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func (b *bench) refused(r *http.Request, route gate.Route) {
	b.Helper()
	if c, err := b.Authenticate(r, route); messages.CodeOf(err) != messages.CodeUnauthorized || c.Allows("one") {
		b.Errorf("%s got %v, and is allowed the task: %v", r.URL.Path, err, c.Allows("one"))
	}
}

func (b *bench) ticket(c gate.Caller, id messages.TaskID) string {
	b.Helper()
	text, _, err := c.Ticket(id)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

func TestGateNeedsAToken(t *testing.T) {
	t.Parallel()
	if _, err := gate.New(gate.Config{}); err == nil {
		t.Error("a gate without an admin token was made")
	}
	g := gate.WithoutToken(nil)
	if _, err := g.Authenticate(request("", "token", ""), cdp); messages.CodeOf(err) != messages.CodeUnauthorized || g.HasToken() {
		t.Error(err)
	}
}

func TestTokensAreTakenWhereTheRouteTakesThem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	task := b.admin.ForTask("one")
	session, err := b.admin.Until(b.admitted(request(b.admin.Reveal()), cdp).Scope(), time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	events := gate.Route{Class: "events", TokenParam: "access_token"}
	for _, c := range []struct {
		name  string
		r     *http.Request
		route gate.Route
		want  string // of the scope; "" is refused
	}{
		{"header", request(task), gate.Route{}, "task one"},
		{"query, where it is taken", request("", "token", task), cdp, "task one"},
		{"query under another name", request("", "access_token", task), cdp, ""},
		{"query, where none is taken", request("", "token", task), gate.Route{}, ""},
		{"the admin's in a URL, where it is taken", request("", "token", b.admin.Reveal()), cdp, "admin"},
		{"the admin's in a URL, where it is not", request("", "access_token", b.admin.Reveal()), events, ""},
		{"the admin's session in a URL", request("", "access_token", session), events, "admin"},
		{"a bad header before a good query", request("wrong", "token", task), cdp, ""},
		{"nothing", request(""), cdp, ""},
		{"a token as a ticket", request("", "ticket", task), cdp, ""},
	} {
		got, err := b.Authenticate(c.r, c.route)
		if (err == nil) != (c.want != "") || err == nil && got.Scope().String() != c.want {
			t.Errorf("%s: %s, %v", c.name, got.Scope(), err)
		}
	}
}

func TestTicketsAreGoodOnceForOneTaskAndThirtySeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		tenant, err := b.admin.ForTenant("acme")
		if err != nil {
			t.Fatal(err)
		}
		giver := b.admitted(request(tenant), cdp)
		if _, _, err := giver.Ticket("other"); messages.CodeOf(err) != messages.CodeForbidden {
			t.Error("a ticket for a task out of scope:", err)
		}
		first := b.ticket(giver, "acme:1")
		time.Sleep(29 * time.Second)
		b.refused(request("", "ticket", first), gate.Route{TokenParam: "token"}) // where none are taken, none is used up
		c := b.admitted(request("", "ticket", first), cdp)
		if !c.Allows("acme:1") || c.Allows("acme:2") || messages.CodeOf(c.CheckTask(t.Context(), "acme:2")) != messages.CodeForbidden {
			t.Error("a ticket covers its task, and no other")
		}
		if got := messages.CallerOf(c.Context(t.Context())); got != (messages.Caller{IsScoped: true, Tenant: "acme"}) {
			t.Errorf("the node learns %+v", got)
		}
		b.refused(request("", "ticket", first), cdp)
		late := b.ticket(giver, "acme:1")
		time.Sleep(30 * time.Second)
		b.refused(request("", "ticket", late), cdp)

		// A ticket is no way out of its task: not by a further ticket, nor by a session.
		if _, _, err := c.Ticket("acme:2"); messages.CodeOf(err) != messages.CodeForbidden {
			t.Error(err)
		}
		s, err := c.Login(t.Context(), c.LoginCode().Code)
		if err != nil {
			t.Fatal(err)
		}
		if of := b.admitted(request(s.Token), cdp); of.Scope().String() != "task acme:1" {
			t.Error("the session is good for", of.Scope())
		}
	})
}

func TestATicketEndsWithItsToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		short, err := b.admin.Until(token.TaskScope("one"), time.Now().Add(10*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		giver := b.admitted(request(short), cdp)
		used, kept := b.ticket(giver, "one"), b.ticket(giver, "one")
		stream, stop := b.admitted(request("", "ticket", used), cdp).While(t.Context())
		defer stop()
		time.Sleep(9 * time.Second)
		if stream.Err() != nil {
			t.Error("the stream has ended before its token")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if stream.Err() == nil {
			t.Error("the stream outlives its token")
		}
		b.refused(request("", "ticket", kept), cdp)
	})
}

func TestOneTokenDoesNotUseUpTheTicketsOfOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	quiet := b.ticket(b.admitted(request(b.admin.ForTask("quiet")), cdp), "quiet")
	loud := b.admitted(request(b.admin.ForTask("loud")), cdp)
	var tickets []string
	for range 2000 {
		tickets = append(tickets, b.ticket(loud, "loud"))
	}
	b.admitted(request("", "ticket", quiet), cdp)
	b.refused(request("", "ticket", tickets[len(tickets)-65]), cdp)
	b.admitted(request("", "ticket", tickets[len(tickets)-64]), cdp)
}

// TestATicketLetsOneIn: of many that come with it at the same time.
func TestATicketLetsOneIn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ticket := b.ticket(b.admitted(request(b.admin.Reveal()), cdp), "one")
	let := make(chan bool)
	for range 8 {
		go func() {
			_, err := b.Authenticate(request("", "ticket", ticket), cdp)
			let <- err == nil
		}()
	}
	n := 0
	for range 8 {
		if <-let {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d were let in", n)
	}
}

func TestRefusalsAreCountedByClass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.refused(request("wrong"), cdp)
	_ = b.admitted(request(b.admin.ForTask("two")), gate.Route{Class: "read"}).CheckTask(t.Context(), "one")
	if !slices.Equal(b.observer.refused, []string{"cdp", "read"}) {
		t.Error(b.observer.refused)
	}
}

func TestStreamsEndWithTheGate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, release, err := b.admitted(request(b.admin.Reveal()), cdp).OpenStream(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if b.IsClosing() || ctx.Err() != nil {
		t.Error("closing before it was asked for")
	}
	b.CloseStreams()
	b.CloseStreams()
	<-ctx.Done()
}

// FuzzQuery: whatever stands in a query, only a token or a ticket of this node lets a
// caller in.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"", "token=", "ticket=", "ticket=x&token=y", "token=hft.one.x", "%zz", "ticket=a&ticket=b", "token=%00;ticket=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		b := setup(t)
		b.ticket(b.admitted(request(b.admin.Reveal()), cdp), "one")
		r := request("")
		r.URL.RawQuery = query
		b.refused(r, cdp)
	})
}
