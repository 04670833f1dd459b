package tool_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

// said is a wrapper that says its own schema and writes its own form, whatever it holds.
type said[T any] struct {
	Value T `json:"value"`
}

func (said[T]) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"x"}}
}
func (said[T]) MarshalJSON() ([]byte, error)  { return []byte(`"x"`), nil }
func (*said[T]) UnmarshalJSON(_ []byte) error { return nil }

type (
	withToken struct {
		Token string `json:"token" redact:"secret"`
	}
	withTyped struct {
		Token redact.Secret[string] `json:"token"`
	}
	withMargin struct {
		Margin int `json:"margin" redact:"internal"`
	}
	withEmail struct {
		Email string `json:"email" redact:"personal"`
	}
	withUnexported struct {
		token redact.Secret[string] //nolint:unused // read by reflection
	}
	withLeft struct {
		Token string `json:"-" redact:"secret"`
	}
	WithToken     withToken
	withEmbedded  struct{ WithToken }
	withRecursive struct {
		Next *withRecursive `json:"next,omitzero"`
		withToken
	}
	eitherWay interface{ either() }
	wayOut    struct {
		Name string `json:"name" redact:"trusted"`
	}
	wayIn struct {
		Name string `json:"name" redact:"secret"`
	}
	ways struct{}
)

func (wayOut) either() {}
func (wayIn) either()  {}
func (ways) Cases() []validate.Case[eitherWay] {
	return []validate.Case[eitherWay]{validate.Of[eitherWay, wayOut]("out"), validate.Of[eitherWay, wayIn]("in")}
}

type (
	holds[T any] struct {
		Customer T `json:"customer"`
	}
	holdsSecret[T any] struct {
		Customer T `json:"customer" redact:"secret"`
	}
	provesAnd[T any] struct {
		tool.Evidence
		Customer T `json:"customer"`
	}
)

// placed registers a write with T in one of its three types, and returns what is refused.
func placed[T any](t *testing.T, in, plan, out bool) error {
	t.Helper()
	w := newWorld(t)
	switch {
	case in:
		return definedAs[holds[T], limitPlan, limitOut](w)
	case plan:
		return definedAs[limitIn, holds[T], limitOut](w)
	case out:
		return definedAs[limitIn, limitPlan, provesAnd[T]](w)
	}
	return nil
}

func definedAs[In, Plan any, Out tool.Evident](w *world) error {
	_, err := tool.NewCatalog(tool.Write[In, Plan, Out]{
		Spec: w.write.Spec, Class: tool.Reversible, Current: w.write.Current,
		Preview: func(context.Context, tool.Caller, In) (tool.Draft[Plan], error) { return tool.Draft[Plan]{}, nil },
		Commit:  func(context.Context, tool.Approved[Plan]) (out Out, err error) { return out, nil },
	})
	return err
}

// TestClassesBindBehindEveryType: what a field's tag keeps behind the boundary, no type around it carries past. "" says that
// the place may hold it.
func TestClassesBindBehindEveryType(t *testing.T) {
	t.Parallel()
	const secret, internal = "the class secret", "the class internal"
	for _, tt := range []struct {
		name, why     string
		try           func(t *testing.T, in, plan, out bool) error
		in, plan, out string
	}{
		{
			"plain", "an argument may be a secret; what is stored and shown may not", placed[withToken],
			"", "plan: customer.token: a secret", "output: customer.token: " + secret,
		},
		{"typed", "a redact.Secret is a secret without a tag", placed[withTyped], "", "plan: customer.token: a secret", "output: customer.token: " + secret},
		{"internal", "approvers are the host's own people, the model is not", placed[withMargin], "", "", "output: customer.margin: " + internal},
		{"personal", "may cross", placed[withEmail], "", "", ""},
		{
			"in a choice", "one place, two classes: the narrower binds", placed[validate.OneOf[eitherWay, ways]],
			"", "plan: customer.name: a secret", "output: customer.name: " + secret,
		},
		{
			"behind a hook", "its author's word is all that is known of what it writes", placed[said[withToken]],
			"input: customer.value.token: " + secret, "plan: customer.value.token: " + secret, "output: customer.value.token: " + secret,
		},
		{
			"typed behind a hook", "as above", placed[said[withTyped]],
			"input: customer.value.token: " + secret, "plan: customer.value.token: " + secret, "output: customer.value.token: " + secret,
		},
		{
			"a bare secret behind a hook", "as above", placed[said[redact.Secret[string]]],
			"input: customer.value: " + secret, "plan: customer.value: " + secret, "output: customer.value: " + secret,
		},
		{
			"internal behind a hook", "a recording could not leave it out", placed[said[withMargin]],
			"input: customer.value.margin: " + internal, "plan: customer.value.margin: " + internal, "output: customer.value.margin: " + internal,
		},
		{"personal behind a hook", "may cross", placed[said[withEmail]], "", "", ""},
		{
			"unexported behind a hook", "its MarshalJSON reads it all the same", placed[said[withUnexported]],
			"input: customer.value.token: " + secret, "plan: customer.value.token: " + secret, "output: customer.value.token: " + secret,
		},
		{"left out behind a hook", "the tag says that it is not written", placed[said[withLeft]], "", "", ""},
		{
			"a list of pointers behind a hook", "it is followed", placed[said[[]*withToken]],
			"input: customer.value[].token: " + secret, "plan: customer.value[].token: " + secret, "output: customer.value[].token: " + secret,
		},
		{
			"a map's value behind a hook", "it is followed", placed[said[map[string]withToken]],
			"input: customer.value{}.token: " + secret, "plan: customer.value{}.token: " + secret, "output: customer.value{}.token: " + secret,
		},
		{
			"a map's key behind a hook", "keys are written too", placed[said[map[withToken]int]],
			"input: customer.value.token: " + secret, "plan: customer.value.token: " + secret, "output: customer.value.token: " + secret,
		},
		{
			"embedded behind a hook", "encoding/json would write it", placed[said[withEmbedded]],
			"input: customer.value.token: " + secret, "plan: customer.value.token: " + secret, "output: customer.value.token: " + secret,
		},
		{
			"a recursive type behind a hook", "each type is looked into once", placed[said[withRecursive]],
			"input: customer.value.token: " + secret, "plan: customer.value.token: " + secret, "output: customer.value.token: " + secret,
		},
		{
			"a choice behind a hook", "each of its variants", placed[said[validate.OneOf[eitherWay, ways]]],
			"input: customer.value.name: " + secret, "plan: customer.value.name: " + secret, "output: customer.value.name: " + secret,
		},
		{
			"hooks in one another", "the outermost speaks for all", placed[said[[]said[withTyped]]],
			"input: customer.value[].value.token: " + secret, "plan: customer.value[].value.token: " + secret, "output: customer.value[].value.token: " + secret,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for i, want := range []string{tt.in, tt.plan, tt.out} {
				err := tt.try(t, i == 0, i == 1, i == 2)
				if want == "" {
					require.NoError(t, err, tt.why)
				} else {
					require.ErrorContains(t, err, `tool "commit_limit_change_v2": `+want, tt.why)
				}
			}
		})
	}
	require.Equal(t, 1, reflect.TypeFor[withUnexported]().NumField())
	w := newWorld(t)
	require.NoError(t, definedAs[holdsSecret[said[withToken]], limitPlan, limitOut](w), "the place is a secret as a whole")
	require.ErrorContains(t, definedAs[limitIn, holdsSecret[said[withToken]], limitOut](w), "plan: customer: a secret")
}
