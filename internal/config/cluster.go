package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Cluster is how a node and others share their tasks.
type Cluster struct {
	Enabled      bool     `key:"enabled" flag:"cluster-enabled" empty:"true where cluster.voters or a store of cluster.store is set" help:"Join a cluster. Without it nothing of it is started and nothing is listened on."`
	Name         string   `key:"name" flag:"cluster-name" default:"holdfast" help:"The name of the cluster. Nodes of another one are turned away."`
	Listen       Address  `key:"listen" flag:"cluster-listen" empty:"the address of cluster.advertise" help:"Address for the other nodes. Its port and the three after it are used: the first two by voters for the store, the others by every node, for the requests of nodes and for programs on actors."`
	Advertise    Address  `key:"advertise" flag:"cluster-advertise" empty:"that of the node in cluster.voters, else cluster.listen" help:"The address under which the other nodes reach this one, as a name that stays the same over restarts."`
	Voters       []string `key:"voters" flag:"cluster-voters" empty:"none" help:"The nodes that keep the store, 1, 3 or 5, as NAME=HOST:PORT with commas between them. All nodes of the cluster have the same list; every other node is a client of these."`
	Store        string   `key:"store" flag:"cluster-store" default:"embedded" help:"Where the records are kept: embedded, inside the voters, or the URLs of an etcd that others run, with commas between them."`
	Cert         string   `key:"cert" flag:"cluster-cert" empty:"none" help:"File of the node's certificate, for both ends of connections between nodes. holdfast cluster init makes one."`
	Key          string   `key:"key" flag:"cluster-key" empty:"none" help:"File of its key."`
	CA           string   `key:"ca" flag:"cluster-ca" empty:"none" help:"File of the CA that has signed the certificates of all nodes."`
	Remoting     string   `key:"remoting" flag:"cluster-remoting" default:"mtls" enum:"mtls,plain,off" help:"How programs on hollywood reach the node's actors: with a certificate of the CA, or on a loopback address without one, as every program of the machine then may. Each is an admin of the cluster."`
	SealKey      string   `key:"seal_key_file" flag:"cluster-seal-key" empty:"none: tasks are not taken over" help:"File of the key that all nodes seal tasks with in the store. holdfast cluster init makes one. Without it a task ends with its node."`
	AllowedNames []string `key:"allowed_names" flag:"cluster-allowed-name" empty:"every certificate of the CA" help:"Names of certificates that may connect. Needed where the CA signs for others too."`
}

// embeddedStore is the value of cluster.store for etcd inside the voters.
const embeddedStore = "embedded"

// maxClusterPort leaves room for the three ports after it.
const maxClusterPort = 65532

// IsEmbedded says whether the voters keep the store.
func (c Cluster) IsEmbedded() bool { return c.Store == embeddedStore }

// Endpoints are the URLs of the store that others run.
func (c Cluster) Endpoints() []string {
	if c.IsEmbedded() {
		return nil
	}
	return splitList([]string{c.Store})
}

// VoterList are the addresses of the voters by name. The error does not repeat the list.
func (c Cluster) VoterList() (map[string]string, error) {
	voters, seen := map[string]string{}, map[string]bool{}
	for _, v := range splitList(c.Voters) {
		name, address, ok := strings.Cut(v, "=")
		if !ok || !isNodeName(name) {
			return nil, errVoters("must be NAME=HOST:PORT of each voter; a name has 1 to 64 lower-case letters, digits, dots and hyphens")
		}
		if what := wrongClusterAddress(Address(address), false); what != "" {
			return nil, errVoters("of " + name + " " + what)
		}
		if voters[name] != "" || seen[address] {
			return nil, errVoters("has " + name + " or its address twice")
		}
		voters[name], seen[address] = address, true
	}
	switch len(voters) {
	case 0, 1, 3, 5:
		return voters, nil
	}
	return nil, errVoters(fmt.Sprintf("has %d voters; a cluster has 1, 3 or 5", len(voters)))
}

type errVoters string

func (e errVoters) Error() string { return string(e) }

// Addresses are where a node of that name listens for other nodes, and under which address
// they reach it.
func (c Cluster) Addresses(node string) (listen, advertise string) {
	voters, _ := c.VoterList() // checked by Load
	advertise = cmp.Or(string(c.Advertise), voters[node], string(c.Listen))
	return cmp.Or(string(c.Listen), advertise), advertise
}

// splitList parts what commas separate.
func splitList(values []string) []string {
	var out []string
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

var nodeName = regexp.MustCompile(`^[a-z0-9.-]{1,64}$`)

func isNodeName(s string) bool { return nodeName.MatchString(s) }

// clusterName is a part of keys in the store.
var clusterName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// wrongClusterAddress says what is wrong with an address of the cluster, "" for nothing.
func wrongClusterAddress(a Address, isListen bool) string {
	host, port, err := net.SplitHostPort(string(a))
	if err != nil {
		return "must be HOST:PORT"
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > maxClusterPort {
		return fmt.Sprintf("must have a port from 1 to %d: the three after it are used too", maxClusterPort)
	}
	if ip := net.ParseIP(host); !isListen && (host == "" || ip != nil && ip.IsUnspecified()) {
		return "must be an address that the other nodes can dial"
	}
	return ""
}

// wrongEndpoint says what is wrong with the URL of a store, "" for nothing.
func wrongEndpoint(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Port() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return "must be embedded, or http://HOST:PORT or https://HOST:PORT of each server, without a user, a path or a query"
	}
	if u.Scheme == "http" && !Address(u.Host).IsLoopback() {
		return "must be https: without it everyone on the network reads and writes the store"
	}
	return ""
}

// decideCluster has a node that is given a store join, unless cluster.enabled says otherwise.
func (e *Effective) decideCluster() {
	if e.Origin("cluster.enabled").Kind != FromDefault {
		return
	}
	for _, path := range []string{"cluster.voters", "cluster.store"} {
		if from := e.Origin(path); from.Kind != FromDefault && (path != "cluster.store" || !e.Cluster.IsEmbedded()) {
			e.Cluster.Enabled, e.origins[table.paths["cluster.enabled"]] = true, from
			return
		}
	}
}

// checkCluster is what holds between the settings of a cluster.
func (e *Effective) checkCluster(wrong func(path, what string)) {
	if e.NodeName != "" && !isNodeName(e.NodeName) {
		wrong("node_name", "must be 1 to 64 lower-case letters, digits, dots and hyphens")
	}
	c := e.Cluster
	voters, err := c.VoterList()
	if err != nil {
		wrong("cluster.voters", err.Error())
	}
	if !c.IsEmbedded() {
		list := c.Endpoints()
		if len(list) == 0 {
			wrong("cluster.store", wrongEndpoint(""))
		}
		for _, endpoint := range list {
			if what := wrongEndpoint(endpoint); what != "" {
				wrong("cluster.store", what)
				break
			}
		}
	}
	if !c.Enabled {
		return
	}
	// What is missing stands nowhere: the place is that of the setting which wants it.
	missing := func(path, what string) { wrong("cluster.enabled", "begins a cluster, which needs "+path+": "+what) }
	if !clusterName.MatchString(c.Name) {
		wrong("cluster.name", "must be 1 to 64 letters, digits, dots, hyphens and underscores")
	}
	if err == nil && c.IsEmbedded() && len(voters) == 0 {
		missing("cluster.voters", "the nodes that keep the store; or a store that others run, in cluster.store")
	}
	for path, file := range map[string]string{"cluster.cert": c.Cert, "cluster.key": c.Key, "cluster.ca": c.CA} {
		if file == "" {
			missing(path, "nodes know each other by certificates, which holdfast cluster init makes")
		}
	}
	for path, a := range map[string]Address{"cluster.listen": c.Listen, "cluster.advertise": c.Advertise} {
		if what := wrongClusterAddress(a, path == "cluster.listen"); a != "" && what != "" {
			wrong(path, what)
		}
	}
	if c.Remoting == "plain" {
		for _, a := range []Address{c.Listen, c.Advertise, Address(voters[e.NodeName])} {
			if a != "" && !a.IsLoopback() {
				wrong("cluster.remoting", "must be mtls or off: plain is for loopback addresses, since without certificates everyone on the network is an admin")
				break
			}
		}
	}
	if c.Listen == "" && c.Advertise == "" && e.NodeName != "" && err == nil && voters[e.NodeName] == "" {
		missing("cluster.listen", "the node is not among cluster.voters")
	}
	if c.Advertise == "" && c.Listen != "" && voters[e.NodeName] == "" && err == nil {
		if what := wrongClusterAddress(c.Listen, false); what != "" {
			missing("cluster.advertise", "cluster.listen "+what)
		}
	}
}
