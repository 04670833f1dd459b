package protocolmodel_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/toolcontract/toolcontract/internal/protocolmodel" //nolint:revive // a model reads best without a prefix
)

const limit = 3_000_000

// worlds are small enough to be explored to their end, and together have in them what the protocol is made for.
var worlds = map[string]Model{
	"everything, one proposal": {
		Contract: StatusQueryable, Proposals: 1, Versions: true, MaxAttempts: 2,
		Expires: true, Revokes: true, Withdraws: true, Outsider: true, Cancels: true, Operator: true, Refuses: true, CannotDial: true, Alters: true,
	},
	"nothing can be asked": {
		Contract: Promises0, Proposals: 1, Versions: true, MaxAttempts: 2,
		Expires: true, Revokes: true, Withdraws: true, Outsider: true, Cancels: true, Operator: true, Refuses: true, CannotDial: true,
	},
	"not found is final":      {Contract: NotFoundIsFinal, Proposals: 1, MaxAttempts: 2, Operator: true, Refuses: true, CannotDial: true},
	"sent again":              {Contract: ReplaySafe, Proposals: 1, Versions: true, MaxAttempts: 2, Expires: true, Revokes: true, Outsider: true, Operator: true},
	"sent again, cannot dial": {Contract: ReplaySafe, Proposals: 1, MaxAttempts: 2, Operator: true, Refuses: true, CannotDial: true},
	"in one database":         {Contract: Promises0, Proposals: 1, MaxAttempts: 2, Operator: true, OneBase: true},
	"two proposals":           {Contract: StatusQueryable, Proposals: 2, MaxAttempts: 2, Operator: true, Cancels: true, CannotDial: true},
	"two, the second later":   {Contract: StatusQueryable, Proposals: 2, Previews: true, MaxAttempts: 2, Operator: true, CannotDial: true},
	"two, and sent again":     {Contract: ReplaySafe, Proposals: 2, MaxAttempts: 2, Operator: true},
	"purged after its time":   {Contract: StatusQueryable, Proposals: 1, MaxAttempts: 2, Operator: true, Expires: true, Purges: true},
	"purged, and found final": {Contract: NotFoundIsFinal, Proposals: 1, MaxAttempts: 1, Operator: true, Expires: true, Purges: true},
}

func TestProtocolHolds(t *testing.T) {
	t.Parallel()
	for name, m := range worlds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := m.Explore(limit, true)
			require.Equal(t, NoRule, r.Broken, "%s\n%s", r.Broken, strings.Join(r.Trace, "\n"))
			require.True(t, r.Whole, "explored to its end")
			t.Logf("%d states, %d moves", r.States, r.Moves)
		})
	}
}

// found says in which world the want of a guard shows, and what it breaks.
var found = map[Guard]struct {
	world string
	rule  Rule
}{
	RecheckAtCommit: {"everything, one proposal", KnownNo},
	FindBeforeNo:    {"not found is final", NoneWhileOpen},
	SeqBeforeAdmit:  {"two, the second later", DeniedWithoutReason},
	AdmitFirst:      {"not found is final", ConsumedWithoutOperation},
	BindFirst:       {"sent again", EffectWithoutApproval},
	BindAtAll:       {"not found is final", EffectWithoutApproval},
	BindOnce:        {"not found is final", DeniedWithoutReason},
	PreviewOrder:    {"two, the second later", StaleEffect},
	ForgottenKnown:  {"purged after its time", EffectAfterNone},
	ForgottenHolds:  {"purged after its time", OpenUnheld},
	ClaimPending:    {"purged after its time", EffectAfterNone},
	ClaimExpiry:     {"everything, one proposal", KnownNo},
	ClaimSeq:        {"two proposals", StaleEffect},
	RecheckInQueue:  {"everything, one proposal", KnownNo},
	CurrentInQueue:  {"everything, one proposal", KnownNo},
	DigestOfBody:    {"everything, one proposal", AlteredEffect},
	LastAttemptEnds: {"everything, one proposal", Stuck},
	Fence:           {"not found is final", LostHolder},
	RepeatSame:      {"in one database", EffectAfterNone},
	ReapFences:      {"not found is final", LostHolder},
	ReapAfterLease:  {"not found is final", EffectAfterNone},
	StopAtDeadline:  {"not found is final", LateByte},
	SentMark:        {"everything, one proposal", EffectAfterNone},
	NotSentDoubt:    {"sent again, cannot dial", EffectAfterNone},
	NotSentStamps:   {"two, the second later", DeniedWithoutReason},
	ClearOwn:        {"two proposals", OpenUnheld},
	DenyPending:     {"everything, one proposal", EffectAfterNone},
	CancelPending:   {"everything, one proposal", EffectAfterNone},
	ResolveUnknown:  {"everything, one proposal", EffectAfterNone},
	OperatorWaits:   {"not found is final", EffectAfterNone},
	PurgeTerminal:   {"purged after its time", Stuck},
	SettleBefore:    {"not found is final", EffectAfterNone},
	SettleAtAsking:  {"not found is final", EffectAfterNone},
	ResendUnknown:   {"sent again", TwoHolders},
	ResendRecheck:   {"sent again", KnownNo},
	ResendCurrent:   {"sent again", KnownNo},
	ResendExpiry:    {"sent again", KnownNo},
	ResendWindow:    {"sent again", LateByte},
	ResendLease:     {"sent again", LateByte},
}

// carried are the guards that another carries as well: their want shows only beside the want of that one.
var carried = map[Guard]struct {
	by    Guard
	world string
	rule  Rule
}{
	PreviewClosed: {NotSentRaises, "two, the second later", StaleEffect},
	ClaimOpen:     {ClaimRaises, "two proposals", OpenUnheld},
	ClaimRaises:   {EndRaises, "two proposals", StaleEffect},
	EndRaises:     {PreviewClosed, "two, the second later", StaleEffect},
	NotSentRaises: {ClaimRaises, "two proposals", StaleEffect},
}

func TestEveryGuardIsFound(t *testing.T) {
	t.Parallel()
	for _, g := range Guards() {
		t.Run(strings.ReplaceAll(g.String(), " ", "-"), func(t *testing.T) {
			t.Parallel()
			without, world, rule := [2]Guard{g}, found[g].world, found[g].rule
			if c, ok := carried[g]; ok {
				without[1], world, rule = c.by, c.world, c.rule
			}
			m, ok := worlds[world]
			require.True(t, ok, "a guard that nobody has thought about")
			m.Without = without
			r := m.Explore(limit, rule == Stuck)
			require.Equal(t, rule, r.Broken, "%s\n%s", r.Broken, strings.Join(r.Trace, "\n"))
			require.NotEmpty(t, r.Trace)
			t.Logf("%s:\n%s", r.Broken, strings.Join(r.Trace, "\n"))
		})
	}
}

// What a guard's want breaks is not there with it: otherwise the world would have broken anyway.
func TestCarriedAlone(t *testing.T) {
	t.Parallel()
	for g, c := range carried {
		t.Run(strings.ReplaceAll(g.String(), " ", "-"), func(t *testing.T) {
			t.Parallel()
			m := worlds[c.world]
			m.Without = [2]Guard{g}
			require.Equal(t, NoRule, m.Explore(limit, false).Broken, "it is found alone: say so in the other table")
		})
	}
}
