package stored

import (
	"encoding/json/v2"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/idem"
)

// made is the command column: what the library made, and nobody's data. Key, hash, run, resource, sequence and body
// have columns of their own.
type made struct {
	Tool        string            `json:"tool"`
	Proposal    string            `json:"proposal,omitzero"`
	Contract    idem.Contract     `json:"contract,omitzero"`
	ProviderKey string            `json:"provider_key,omitzero"`
	Attempts    int               `json:"attempts,omitzero"`
	AvailableIn nanos             `json:"available_in_ns,omitzero"`
	ExpiresIn   nanos             `json:"expires_in_ns,omitzero"`
	DedupFor    nanos             `json:"dedup_for_ns,omitzero"`
	RunFor      nanos             `json:"run_for_ns,omitzero"`
	Settle      nanos             `json:"settle_ns,omitzero"`
	Meta        map[string]string `json:"meta,omitempty"`
}

type nanos int64

// EncodeCommand returns the JSON of what the library made of a command.
func EncodeCommand(c idem.Command) ([]byte, error) {
	return json.Marshal(made{
		c.Tool, c.Proposal, c.Contract, c.ProviderKey, c.Attempts,
		nanos(c.AvailableIn), nanos(c.ExpiresIn), nanos(c.DedupFor), nanos(c.RunFor), nanos(c.Settle), c.Meta,
	}, json.Deterministic(true))
}

func decodeCommand(b []byte, c *idem.Command) error {
	var m made
	if err := json.Unmarshal(b, &m); err != nil {
		return errors.New("the command column is not the ledger's")
	}
	c.Tool, c.Proposal, c.Contract, c.ProviderKey, c.Attempts = m.Tool, m.Proposal, m.Contract, m.ProviderKey, m.Attempts
	c.AvailableIn, c.ExpiresIn, c.DedupFor = time.Duration(m.AvailableIn), time.Duration(m.ExpiresIn), time.Duration(m.DedupFor)
	c.RunFor, c.Settle, c.Meta = time.Duration(m.RunFor), time.Duration(m.Settle), m.Meta
	return nil
}
