package redact_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
)

func ExampleClassOf() {
	type customer struct {
		Email string `redact:"personal"`
		Token redact.Secret[string]
	}
	for f := range reflect.TypeFor[customer]().Fields() {
		class, err := redact.ClassOf(f)
		fmt.Println(f.Name, class, class.Crosses(), err)
	}
	// Output:
	// Email personal true <nil>
	// Token secret false <nil>
}

func TestClassOf(t *testing.T) {
	t.Parallel()
	type wrapped struct{ S redact.Secret[string] }
	type fields struct {
		None      string
		Secret    string                             `redact:"secret"`
		Internal  int                                `redact:"internal"`
		Personal  string                             `redact:"personal"`
		Untrusted string                             `redact:"untrusted"`
		Trusted   string                             `redact:"trusted"`
		Typed     redact.Secret[string]              `json:"typed"`
		Both      redact.Secret[int]                 `redact:"secret"`
		Pointer   *redact.Secret[int]                `json:"p"`
		Slice     []redact.Secret[int]               `json:"s"`
		Nested    map[string][2]*redact.Secret[bool] `json:"n"`
		Inside    wrapped                            `json:"i"`
	}
	want := map[string]redact.Class{
		"None": redact.ClassUnset, "Secret": redact.ClassSecret, "Internal": redact.ClassInternal, "Personal": redact.ClassPersonal,
		"Untrusted": redact.ClassUntrusted, "Trusted": redact.ClassTrusted, "Typed": redact.ClassSecret, "Both": redact.ClassSecret,
		"Pointer": redact.ClassSecret, "Slice": redact.ClassSecret, "Nested": redact.ClassSecret,
		"Inside": redact.ClassUnset, // a struct's fields speak for themselves
	}
	for f := range reflect.TypeFor[fields]().Fields() {
		got, err := redact.ClassOf(f)
		require.NoError(t, err, f.Name)
		require.Equal(t, want[f.Name], got, f.Name)
		require.Equal(t, got != redact.ClassSecret && got != redact.ClassInternal, got.Crosses(), f.Name)
	}
	require.False(t, redact.Class(99).Crosses())
}

func TestClassTagsAreChecked(t *testing.T) {
	t.Parallel()
	type fields struct {
		Empty    string                  `redact:""`
		Case     string                  `redact:"Secret"`
		Space    string                  `redact:" secret"`
		Misspelt string                  `redact:"secert"`
		Two      string                  `redact:"secret,personal"`
		Clash    redact.Secret[string]   `redact:"trusted"`
		Deep     []redact.Secret[string] `redact:"personal"`
	}
	for f := range reflect.TypeFor[fields]().Fields() {
		got, err := redact.ClassOf(f)
		require.ErrorIs(t, err, redact.ErrClass, f.Name)
		require.Equal(t, redact.ClassUnset, got)
	}
}

func TestClassText(t *testing.T) {
	t.Parallel()
	for c := redact.ClassSecret; c <= redact.ClassTrusted; c++ {
		got, err := redact.ParseClass(c.String())
		require.NoError(t, err)
		require.Equal(t, c, got)
	}
	for _, text := range []string{"", "invalid", "unset"} {
		_, err := redact.ParseClass(text)
		require.ErrorIs(t, err, redact.ErrClass, text)
	}
	require.Equal(t, "invalid", redact.Class(99).String())
}

func TestSecretType(t *testing.T) {
	t.Parallel()
	of, ok := redact.SecretType(reflect.TypeFor[redact.Secret[creds]]())
	require.True(t, ok)
	require.Equal(t, reflect.TypeFor[creds](), of)
	type own redact.Secret[creds]
	for _, other := range []reflect.Type{reflect.TypeFor[creds](), reflect.TypeFor[string](), reflect.TypeFor[own](), reflect.TypeFor[*redact.Secret[int]](), reflect.TypeFor[any]()} {
		_, ok := redact.SecretType(other)
		require.False(t, ok, "%v", other)
	}
}
