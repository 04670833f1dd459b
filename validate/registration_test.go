package validate_test

import (
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/validate"
)

// Types that the walk over a Go type would follow without end.
type (
	endless     *endless
	endlessThis *endlessThat
	endlessThat *endlessThis
	lists       []lists
)

func TestTypesWithoutEndAreRefused(t *testing.T) {
	t.Parallel()
	_, err := validate.For[endless]()
	require.ErrorContains(t, err, "validate_test.endless points to itself")
	require.ErrorContains(t, faultsOf[endless](), "f: ")
	require.ErrorContains(t, faultsOf[[]endlessThis](), "f: ")
	type repeated struct {
		A []lists `json:"a" jsonschema:"minItems=1"`
	}
	_, err = validate.For[repeated]()
	require.NoError(t, err, "a list of lists ends")
}

// says is a type that says its own schema.
type says struct {
	A int `json:"a"`
}

func (says) JSONSchema() *jsonschema.Schema {
	p := jsonschema.NewProperties()
	p.Set("a", &jsonschema.Schema{Type: "integer"})
	return &jsonschema.Schema{Type: "object", Properties: p, Required: []string{"a"}, AdditionalProperties: jsonschema.FalseSchema}
}

type saysByPointer struct {
	A int `json:"a"`
}

func (*saysByPointer) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "integer"} }

type hookOnly interface{ JSONSchema() *jsonschema.Schema }

// Embedding structs, whose own fields the promoted hook would hide.
type (
	promotesHook struct {
		says
		B string `json:"b,omitzero" redact:"secret"`
	}
	promotesNamed struct {
		says `json:"in"`
		B    string `json:"b,omitzero" redact:"secret"`
	}
	promotesPointer struct {
		*says `json:"in,omitzero"`
		B     string `json:"b,omitzero"`
	}
	promotesInterface struct {
		hookOnly `json:"in"`
		B        string `json:"b,omitzero"`
	}
	promotesByPointer struct {
		saysByPointer
		B string `json:"b,omitzero"`
	}
	promotesTwo struct {
		says
		badStruct
	}
	promotesDeep struct {
		promotesHook
		C string `json:"c,omitzero"`
	}
	badStruct struct {
		Z int `json:"z"`
	}
	promotesSecret struct {
		redact.Secret[string]
		B string `json:"b,omitzero"`
	}
)

func (badStruct) JSONSchema() *jsonschema.Schema { return says{}.JSONSchema() }

func TestPromotedHooksAreRefused(t *testing.T) {
	t.Parallel()
	root := func(_ *validate.Schema, err error) error { return err }
	for name, c := range map[string]struct {
		err  error
		says string
	}{
		"at the root":      {root(validate.For[promotesHook](validate.Output())), "embeds validate_test.says"},
		"in a field":       {faultsOf[promotesHook](), "f: "},
		"in a list":        {faultsOf[[]promotesHook](), "f[]: "},
		"behind a name":    {faultsOf[promotesNamed](), "embeds validate_test.says"},
		"by a pointer":     {faultsOf[promotesPointer](), "f: "},
		"by an interface":  {faultsOf[promotesInterface](), "f: "},
		"a pointer's hook": {faultsOf[promotesByPointer](), "f"},
		"two at once":      {faultsOf[promotesTwo](), "validate_test.says"},
		"deep":             {faultsOf[promotesDeep](), "f: "},
		"a secret":         {faultsOf[promotesSecret](), "f: "},
	} {
		require.ErrorContains(t, c.err, c.says, name)
	}
}

func TestTagKeysThatStandTwiceAreRefused(t *testing.T) {
	t.Parallel()
	type inner struct {
		X int `json:"x"`
	}
	type twice struct {
		A     string `json:"a" jsonschema:"maxLength=3" jsonschema:"minLength=2"` //nolint:staticcheck // the fault
		B     string `json:"b" json:"c"`                                          //nolint:staticcheck // the fault
		D     string `json:"d" redact:"trusted" redact:"secret"`                  //nolint:staticcheck // the fault
		E     string `json:"-" json:"e"`                                          //nolint:staticcheck // the fault
		inner `redact:"secret"`
	}
	_, err := validate.For[twice]()
	for _, want := range []string{`a: the tag key "jsonschema" stands twice`, `b: the tag key "json"`, `d: the tag key "redact"`, `E: the tag key "json"`, "inner: "} {
		require.ErrorContains(t, err, want)
	}
	type foreign struct {
		A string `json:"a" db:"a" db:"b"` //nolint:staticcheck // another package's business
	}
	_, err = validate.For[foreign]()
	require.NoError(t, err)
}

type notText string

func (notText) Values() []string { return []string{"\xff", "ok"} }

func TestListedValuesThatAreNoTextAreRefused(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, faultsOf[notText](), "f: ")
	require.ErrorContains(t, faultsOf[map[notText]int](), "f{}: ")
	type tagged struct {
		A string `json:"a" jsonschema:"enum=\xff,enum=b"`
	}
	_, err := validate.For[tagged]()
	require.ErrorContains(t, err, "a: ")
	require.False(t, strings.Contains(err.Error(), "\xff"))
}
