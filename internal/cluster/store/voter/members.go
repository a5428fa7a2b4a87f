package voter

import (
	"context"
	"net/url"
	"time"
)

// members are those of the store, as this server has applied them.
func (v *Voter) members() []Member {
	var list []Member
	for _, m := range v.etcd.Server.Cluster().Members() {
		one := Member{Name: m.Name, IsStarted: len(m.ClientURLs) > 0, IsLearner: m.IsLearner}
		if len(m.PeerURLs) > 0 {
			if u, err := url.Parse(m.PeerURLs[0]); err == nil {
				one.Address = u.Host
			}
		}
		list = append(list, one)
	}
	return list
}

// confirmed are the members where a quorum says that the list is the newest; else none.
func (v *Voter) confirmed(ctx context.Context) []Member {
	ctx, cancel := context.WithTimeout(ctx, confirmTime)
	defer cancel()
	if v.etcd.Server.LinearizableReadNotify(ctx) != nil {
		return nil
	}
	return v.members()
}

// endpoints are the URLs at which the members that vote serve clients.
func (v *Voter) endpoints() []string {
	scheme := v.etcd.Config().ListenClientUrls[0].Scheme
	var list []string
	for _, m := range v.members() {
		host, port, err := ports(m.Address)
		if err != nil || m.IsLearner {
			continue
		}
		u := at(host, port+1, scheme == "https")
		list = append(list, u.String())
	}
	return list
}

// isLearner says whether this server has no vote yet.
func (v *Voter) isLearner() bool {
	own := v.etcd.Server.Cluster().Member(v.etcd.Server.MemberID())
	return own != nil && own.IsLearner
}

// promote asks for this server's vote until it has one: a voter in another's place begins
// without, so that none is missing while it copies the store.
func (v *Voter) promote(ctx context.Context) error {
	ticker := time.NewTicker(promoteEvery)
	defer ticker.Stop()
	for v.isLearner() {
		if _, err := v.etcd.Server.PromoteMember(ctx, uint64(v.etcd.Server.MemberID())); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-v.closed:
			return nil
		case <-ticker.C:
		}
	}
	return nil
}
