package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"holdfast/internal/cluster/lease"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// maxMemory bounds what is kept of a task for another node, sealed.
const maxMemory = 64 << 10

// sealedSpec is what a sealed spec holds: JSON masks the address of the browser.
type sealedSpec struct {
	Spec         messages.TaskSpec `json:"spec"`
	CDPURL       string            `json:"cdp_url,omitempty"`
	IsRestricted bool              `json:"restricted,omitempty"`
}

// encodeSpec returns the record of a task's spec, without anything that is not sealed.
func (c *Cluster) encodeSpec(id messages.TaskID, spec messages.TaskSpec) ([]byte, error) {
	plain, err := json.Marshal(sealedSpec{Spec: spec, CDPURL: spec.CDPURL.Reveal(), IsRestricted: spec.IsRestricted})
	if err != nil {
		return nil, fmt.Errorf("cluster: a spec: %w", err)
	}
	key := lease.SpecKey(string(id))
	return json.Marshal(lease.SpecRecord{Place: placeOf(id, spec), IsBound: spec.Launch != nil, Sealed: c.config.Seal.Seal(key, plain)})
}

// placeOf is the key that ranks the nodes for a task: that of its browser, so that tasks which
// share one share their node.
func placeOf(id messages.TaskID, spec messages.TaskSpec) string {
	of := "task " + string(id)
	if spec.Launch == nil && !spec.CDPURL.IsZero() {
		of = "browser " + spec.CDPURL.String() // without its credentials
	}
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:16])
}

func (c *Cluster) decodeSpec(id messages.TaskID, b []byte) (messages.TaskSpec, error) {
	var (
		record lease.SpecRecord
		sealed sealedSpec
	)
	if err := json.Unmarshal(b, &record); err != nil {
		return messages.TaskSpec{}, fmt.Errorf("cluster: a spec: %w", err)
	}
	plain, err := c.config.Seal.Open(lease.SpecKey(string(id)), record.Sealed)
	if err != nil {
		return messages.TaskSpec{}, err
	}
	if err := json.Unmarshal(plain, &sealed); err != nil {
		return messages.TaskSpec{}, fmt.Errorf("cluster: a spec: %w", err)
	}
	spec := sealed.Spec
	spec.CDPURL, spec.IsRestricted = messages.CDPURL{}, sealed.IsRestricted
	if sealed.CDPURL != "" {
		if spec.CDPURL, err = messages.ParseCDPURL(sealed.CDPURL); err != nil {
			return messages.TaskSpec{}, err
		}
	}
	return spec, nil
}

// encodeMemory seals what is to be remembered of a task. What does not fit is left out: what
// agents have set in pages first, then the outcomes of dialogs.
func (c *Cluster) encodeMemory(id messages.TaskID, m mail.TaskMemory) ([]byte, error) {
	for _, shorten := range [...]func(){func() {}, func() { m.Wanted = nil }, func() { m.Recent = nil }, func() { m.Open = nil }} {
		shorten()
		plain, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("cluster: a task's memory: %w", err)
		}
		if sealed := c.config.Seal.Seal(lease.MemoryKey(string(id)), plain); len(sealed) <= maxMemory {
			return sealed, nil
		}
	}
	return nil, fmt.Errorf("cluster: task %s has too many pages to be remembered", id)
}

func (c *Cluster) decodeMemory(id messages.TaskID, b []byte) (m mail.TaskMemory, err error) {
	plain, err := c.config.Seal.Open(lease.MemoryKey(string(id)), b)
	if err == nil {
		err = json.Unmarshal(plain, &m)
	}
	return m, err
}
