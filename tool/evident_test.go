package tool_test

import (
	"context"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool"
)

type (
	evidenceDashed struct {
		tool.Evidence `json:"-"`
		N             int `json:"n"`
	}
	evidenceNamed struct {
		tool.Evidence `json:"evidence"`
	}
	EvidenceBase   struct{ tool.Evidence }
	evidenceBeside struct { // the one that is believed is not the one that is written
		tool.Evident `json:"-"`
		EvidenceBase
	}
	evidenceBaseDashed struct {
		EvidenceBase `json:"-"`
		N            int `json:"n"`
	}
	evidenceHidden struct {
		evidenceDashed
		M int `json:"m"`
	}
	evidenceSaid struct{ tool.Evidence }
)

func (evidenceSaid) JSONSchema() *jsonschema.Schema {
	p := jsonschema.NewProperties()
	p.Set("n", &jsonschema.Schema{Type: "boolean"})
	return &jsonschema.Schema{Type: "object", Properties: p, AdditionalProperties: jsonschema.FalseSchema}
}

// It writes what its schema says, and that is no evidence.
func (evidenceSaid) MarshalJSON() ([]byte, error)  { return []byte(`{}`), nil }
func (*evidenceSaid) UnmarshalJSON(_ []byte) error { return nil }

func registered[Out tool.Evident](w *world) error {
	_, err := tool.NewCatalog(tool.Write[limitIn, limitPlan, Out]{
		Spec: w.write.Spec, Class: tool.Reversible, Preview: w.write.Preview, Current: w.write.Current,
		Commit: func(context.Context, tool.Approved[limitPlan]) (out Out, err error) { return out, nil },
	})
	return err
}

// What the dispatcher believes is what the caller reads: an evidence that is not on the wire does not register.
func TestEvidenceIsOnTheWire(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, registered[tool.Evidence](w))
	require.NoError(t, registered[EvidenceBase](w))
	require.NoError(t, registered[struct{ EvidenceBase }](w))
	for want, err := range map[string]error{
		"output: Evidence: has a json tag":                registered[evidenceDashed](w),
		"output: Evidence: has a json tag that":           registered[evidenceNamed](w),
		"output: EvidenceBase: has a json tag":            registered[evidenceBaseDashed](w),
		"output: evidenceDashed.Evidence: has a json tag": registered[evidenceHidden](w),
		"output: Evident: must be a struct":               registered[evidenceBeside](w),
		"output: new_version: is a member":                registered[evidenceSaid](w),
	} {
		require.ErrorContains(t, err, want)
	}
}
