package voter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"

	"holdfast/internal/cluster/store/etcdlog"
)

// Settings of the servers. Elections are short against the lease, so that the death of the
// leader lapses nothing.
const (
	tickMs      = 50
	electionMs  = 500
	keptChanges = "1000"  // revisions that a compaction leaves
	quota       = 2 << 30 // bytes of the database
)

// Config describes one voter.
type Config struct {
	// Name is the node's, and has to be in Voters.
	Name string
	// Cluster names the cluster: servers of another one are turned away.
	Cluster string
	// Dir is the directory of this voter alone. Its loss is not mended by starting again
	// under the same name.
	Dir string
	// Voters are the addresses (host:port) of all voters, by name. Clients are served at
	// the port after each.
	Voters map[string]string
	// Listen is the address to listen on, such as 0.0.0.0:7071; empty for that in Voters.
	Listen string
	// CertFile, KeyFile and CAFile are for mutual TLS; all three or none.
	CertFile, KeyFile, CAFile string
	// AllowedNames are the names of certificates that may connect; empty for every one
	// that the CA has signed.
	AllowedNames []string
	Log          *slog.Logger

	join     map[string]string // the members of a store that others have, this voter among them
	isForced bool              // the store is this voter's alone from here on
}

// Validate returns an error for what no cluster can run on.
func (c Config) Validate() error {
	switch n := len(c.Voters); n {
	case 1, 3, 5:
	default:
		return fmt.Errorf("a cluster has 1, 3 or 5 voters, not %d: the loss of one of two stops all", n)
	}
	if c.Voters[c.Name] == "" {
		return fmt.Errorf("%s is not one of the voters", c.Name)
	}
	for name, address := range c.Voters {
		if _, _, err := ports(address); err != nil {
			return fmt.Errorf("voter %s: %w", name, err)
		}
	}
	if set := []bool{c.CertFile != "", c.KeyFile != "", c.CAFile != ""}; slices.Contains(set, true) && slices.Contains(set, false) {
		return errors.New("mutual TLS needs a certificate, its key and a CA")
	}
	return nil
}

// ports splits an address, and returns that of the clients beside it.
func ports(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 1 || port > 65533 {
		return "", 0, fmt.Errorf("the port %q is not one of 1 to 65533: the two after it are used too", text)
	}
	return host, port, nil
}

// Endpoints are the URLs at which the voters serve clients, in the order of their names.
func Endpoints(voters map[string]string, hasTLS bool) ([]string, error) {
	var list []string
	for _, name := range sortedNames(voters) {
		host, port, err := ports(voters[name])
		if err != nil {
			return nil, fmt.Errorf("voter %s: %w", name, err)
		}
		u := at(host, port+1, hasTLS)
		list = append(list, u.String())
	}
	return list, nil
}

// Voter is a running server.
type Voter struct {
	etcd   *embed.Etcd
	end    sync.Once
	closed chan struct{}
}

// Start starts the server and returns before it has found the others: [Voter.Ready] says
// when it has. No server is left after an error.
func Start(c Config) (*Voter, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("voter: %w", err)
	}
	e, err := c.embed()
	if err != nil {
		return nil, err
	}
	server, err := embed.StartEtcd(e)
	if err != nil {
		return nil, fmt.Errorf("voter: %w", err)
	}
	return &Voter{etcd: server, closed: make(chan struct{})}, nil
}

// embed translates the configuration into etcd's words.
func (c Config) embed() (*embed.Config, error) {
	hasTLS := c.CertFile != ""
	e := embed.NewConfig()
	e.Name, e.Dir = c.Name, c.dataDir()
	e.InitialClusterToken = "holdfast-" + c.Cluster
	e.TickMs, e.ElectionMs = tickMs, electionMs
	e.AutoCompactionMode, e.AutoCompactionRetention = embed.CompactorModeRevision, keptChanges
	e.QuotaBackendBytes = quota
	e.EnableGRPCGateway = false
	e.LogLevel = "warn"
	e.ZapLoggerBuilder = embed.NewZapLoggerBuilder(etcdlog.New(c.Log))

	e.ForceNewCluster = c.isForced
	list := c.Voters
	if c.join != nil {
		list, e.ClusterState = c.join, embed.ClusterStateFlagExisting
	}
	var members []string
	for _, name := range sortedNames(list) {
		host, port, err := ports(list[name])
		if err != nil {
			return nil, err
		}
		u := at(host, port, hasTLS)
		members = append(members, name+"="+u.String())
	}
	e.InitialCluster = strings.Join(members, ",")

	own := c.Voters[c.Name]
	host, port, err := ports(own)
	if err != nil {
		return nil, err
	}
	e.AdvertisePeerUrls, e.AdvertiseClientUrls = []url.URL{at(host, port, hasTLS)}, []url.URL{at(host, port+1, hasTLS)}
	if c.Listen != "" {
		if host, port, err = ports(c.Listen); err != nil {
			return nil, err
		}
	}
	e.ListenPeerUrls, e.ListenClientUrls = []url.URL{at(host, port, hasTLS)}, []url.URL{at(host, port+1, hasTLS)}
	if hasTLS {
		tls := transport.TLSInfo{
			CertFile: c.CertFile, KeyFile: c.KeyFile, TrustedCAFile: c.CAFile, ClientCertAuth: true,
			AllowedHostnames: c.AllowedNames, SkipClientSANVerify: true,
		}
		e.PeerTLSInfo, e.ClientTLSInfo = tls, tls
	}
	return e, e.Validate()
}

// Ready waits until the server takes part in a quorum.
func (v *Voter) Ready(ctx context.Context) error {
	select {
	case <-v.etcd.Server.ReadyNotify():
		return nil
	case err := <-v.etcd.Err():
		return fmt.Errorf("voter: %w", err)
	case <-v.etcd.Server.StopNotify():
		return errors.New("voter: the server has stopped")
	case <-ctx.Done():
		return fmt.Errorf("voter: it has found no quorum: %w", ctx.Err())
	}
}

// HasQuorum says whether the server knows a leader.
func (v *Voter) HasQuorum() bool { return v.etcd.Server.Leader() != 0 }

// IsLeader says whether the server leads the others.
func (v *Voter) IsLeader() bool { return v.etcd.Server.Leader() == v.etcd.Server.MemberID() }

// Close ends the server. A leader hands its office over first, where another voter is there.
// It may be called again.
func (v *Voter) Close() {
	v.end.Do(func() {
		close(v.closed)
		v.etcd.Close()
	})
}

func (v *Voter) isClosed() bool {
	select {
	case <-v.closed:
		return true
	default:
		return false
	}
}

func at(host string, port int, hasTLS bool) url.URL {
	scheme := "http"
	if hasTLS {
		scheme = "https"
	}
	return url.URL{Scheme: scheme, Host: net.JoinHostPort(host, strconv.Itoa(port))}
}

func sortedNames(voters map[string]string) []string {
	names := make([]string, 0, len(voters))
	for n := range voters {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
