package contracttest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/contracttest/internal/samples"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// denying says of an operation whose outcome is not known that it did nothing.
type denying struct{ *tool.Run }

func (d denying) Call(ctx context.Context, c envelope.Call) envelope.Result {
	r := d.Run.Call(ctx, c)
	if e := r.Error; e != nil && e.Code == envelope.OutcomeUnknown {
		e.Effect = envelope.EffectNone
	}
	return r
}

func TestAFailureTellsWhatHappenedBefore(t *testing.T) {
	t.Parallel()
	shop := samples.NewShop()
	c, err := tool.NewCatalog(shop.Refund())
	require.NoError(t, err)
	report := contracttest.Check(contracttest.Make(func() (*contracttest.Fixture, error) {
		f, err := shop.Fixture(c)
		if err == nil {
			f.Session = func(run *tool.Run) contracttest.Session { return denying{run} }
		}
		return f, err
	}), contracttest.Only("executor"))
	for _, f := range report.Failures {
		if !strings.HasSuffix(f.Case, "/lost-after-commit") {
			continue
		}
		text := f.String()
		last := 0
		for _, step := range []string{
			"run-1: preview_refund_v1 → ok ", "decides, approved true → taken", "the handler of commit_refund_v1 is called",
			"commit_refund_v1; fault lost-after-commit", "the provider did commit_refund_v1, effect 1", "run-1: commit_refund_v1 → OUTCOME_UNKNOWN, effect none",
		} {
			at := strings.Index(text[last:], step)
			require.GreaterOrEqual(t, at, 0, "%s, after the others, in\n%s", step, text)
			last += at
		}
		return
	}
	require.Fail(t, "no failure of lost-after-commit")
}
