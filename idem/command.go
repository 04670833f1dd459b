package idem

import (
	"encoding/json/jsontext"
	"time"

	"github.com/toolcontract/toolcontract/internal/ids"
)

// Key names one operation of one tenant. Neither part is empty.
type Key struct{ Tenant, Operation string }

// Contract is what the provider of a write promises about a key it has seen before. The zero value is [None].
type Contract string

// The contracts.
const (
	// ReplaySafe: within the provider's window the same key gets the first answer, refusals included, and no second
	// effect. A provider that forgets refusals is None or StatusQueryable.
	ReplaySafe Contract = "replay_safe"
	// StatusQueryable: the provider can be asked what became of a key; "not found" proves nothing.
	StatusQueryable Contract = "status_queryable"
	// NotFoundIsFinal: as StatusQueryable, and "not found" is final when it is asked more than Settle after the last
	// dispatch claim ended ([Claim].Idle).
	NotFoundIsFinal Contract = "not_found_is_final"
	// None: the provider promises nothing.
	None Contract = "none"
)

// Defaults of a [Command]'s zero fields.
const (
	DefaultAttempts = 5
	DefaultSettle   = time.Minute
	DefaultRunFor   = 15 * time.Minute
)

// Command is what is admitted: everything that a worker on another machine needs to run it. Durations are counted from
// the admission, on the ledger's clock, unless they say otherwise. No text may hold U+0000 or be invalid UTF-8, and no
// duration or number may be negative; Admit refuses such a command.
type Command struct {
	Key         Key
	Tool        string            // the commit's wire name; what Next filters by
	Proposal    string            // the proposal's id
	Run         string            // the run that committed it; what Open filters by
	RequestHash string            // the stored digest; never empty. The same key with another hash is ErrConflict
	Resource    string            // within the tenant; never empty. Operations on one resource run one after the other
	Seq         int64             // the resource's sequence that the proposal was made on
	Body        jsontext.Value    // the canonical plan and what belongs to it; kept byte for byte
	Contract    Contract          // zero: None
	ProviderKey string            // the idempotency key that the provider sees; made once, at admission
	Attempts    int               // dispatch claims (Claim, Resend) at most; zero: DefaultAttempts
	AvailableIn time.Duration     // when the outbox offers it first; zero: at once. Claim does not wait for it
	ExpiresIn   time.Duration     // no dispatch claim at or after it; zero: at once
	DedupFor    time.Duration     // how long after Claim a Resend may leave: the provider's window less the longest time that a request may be under way; zero: never
	RunFor      time.Duration     // how long Running may last before it counts as unknown; zero: DefaultRunFor
	Settle      time.Duration     // at least the longest time that a request may be under way; zero: DefaultSettle
	Meta        map[string]string // what the library made: tool version, policy version, decision ids, trace parent. Not sealed at rest
}

// OperationID returns the id of the operation that commits a proposal: "op_" and the SHA-256 of ("toolcontract/op/1",
// tenant, proposal), each part led by its length in eight bytes, in lower-case Crockford base32. It depends on no key, so
// a second commit of one proposal finds the first whatever was rotated in between.
func OperationID(tenant, proposal string) string {
	return ids.Encode("op_", ids.Hash("toolcontract/op/1", tenant, proposal))
}
