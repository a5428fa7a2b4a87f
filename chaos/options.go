package chaos

import (
	"net"
	"net/url"
	"path"
	"strings"
	"time"

	"holdfast/messages"
)

// Options say what kind of browser [New] makes. The zero value is a browser
// without pages.
type Options struct {
	// Seed decides every id. Two browsers of one process want different ones.
	Seed uint64
	// Pages is how many about:blank tabs are open from the start.
	Pages int
	// Load says what is found at a URL; nil means [DefaultDocument]. It is
	// called with the browser locked: it must not call the browser.
	Load func(url string) Document
	// Evaluate answers the expressions that the built-in dialect (script.go)
	// does not know; ok false falls through to a ReferenceError. It is called
	// with the browser locked: it acts on the browser through
	// [Value.Then] only.
	Evaluate func(Evaluation) (v Value, ok bool)
	// Refuse says which commands a connection, by [Conn.Number], is told do not
	// exist, as some services do; nil refuses none. It is called with the browser
	// locked: it must not call the browser.
	Refuse func(connection int, method string) bool
	// SharesFrames puts frames of one site and browser context into one process, whichever
	// tabs they are in, as Chrome does (C59). A dialog of one then silences the others.
	SharesFrames bool
	// CanStrand leaves a page between two documents when its renderer spins as the next
	// one of its site is to be committed: from then on nothing frees it but its end.
	CanStrand bool
	// IsHeaded is a browser with windows, by what it says of itself.
	IsHeaded bool
	// KeepCommands bounds what [Conn.Commands] remembers; 0 means 1024.
	KeepCommands int
}

// Document is what a navigation finds.
type Document struct {
	Title string
	// ErrorText, such as net::ERR_NAME_NOT_RESOLVED, makes the navigation end
	// in an error page.
	ErrorText string
	// Frames are the addresses of the iframes that its markup holds.
	Frames []string
	// Script runs while the document loads; it is written in the dialect of
	// script.go.
	Script string
	// HasBeforeUnload arms a beforeunload handler; it asks once the frame has
	// had a user gesture (C10).
	HasBeforeUnload bool
	// Delay is how long the server takes to answer. A navigation that starts
	// meanwhile takes the place of this one, whose command then gets no reply.
	Delay time.Duration
}

// Evaluation is a Runtime.evaluate that the built-in dialect does not know.
type Evaluation struct {
	Target         messages.TargetID
	Frame          messages.FrameID
	URL            string
	Expression     string
	HasUserGesture bool
}

// Value is what an expression gives.
type Value struct {
	// JSON is any value that encoding/json can write; nil is undefined.
	JSON any
	// Throws, when not empty, is the text of an exception.
	Throws string
	// Then runs after the reply was queued and with the browser unlocked.
	Then func(*Browser)
}

// DefaultDocument finds a document everywhere, titled by the last element of
// the path, except on hosts under .invalid.
func DefaultDocument(raw string) Document {
	u, err := url.Parse(raw)
	if err != nil {
		return Document{ErrorText: "net::ERR_ABORTED"}
	}
	if strings.HasSuffix(u.Hostname(), ".invalid") {
		return Document{ErrorText: "net::ERR_NAME_NOT_RESOLVED"}
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return Document{}
	}
	return Document{Title: strings.TrimPrefix(path.Base(u.Path), "/")}
}

// site is the process key of a URL under --site-per-process: scheme and the
// last two labels of the host. Addresses without a host of their own, such as
// about:blank and data:, have none and stay in their parent's process.
func site(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	return u.Scheme + "://" + registrable(u.Hostname())
}

func registrable(host string) string {
	if net.ParseIP(host) != nil {
		return host
	}
	labels := strings.Split(host, ".")
	if len(labels) > 2 {
		labels = labels[len(labels)-2:]
	}
	return strings.Join(labels, ".")
}

// origin is written the way CDP writes it: "://" for an opaque one.
func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme == "chrome-error" {
		return "://"
	}
	return u.Scheme + "://" + u.Host
}
