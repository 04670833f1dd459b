package redact_test

import (
	"bytes"
	jsonv1 "encoding/json"
	"encoding/json/v2"
	"encoding/xml"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/toolcontract/toolcontract/redact"
)

func ExampleSecret() {
	type login struct {
		User     string                `json:"user"`
		Password redact.Secret[string] `json:"password"`
	}
	var in login
	err := json.Unmarshal([]byte(`{"user":"ada","password":"correct horse"}`), &in)
	fmt.Println(in, err)
	fmt.Println(len(in.Password.Reveal()))
	// Output:
	// {ada [redacted]} <nil>
	// 13
}

const canary = "Zq7canary!Kx9"

type creds struct {
	Name string
	Pin  int
}

// shownBy returns everything that a value shows of itself by the usual ways to log and encode.
func shownBy(t *testing.T, v any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "% x", "%#x", "%t", "%c", "%U", "%e", "%p", "%w", "%T%v", "%10.3v", "%-20s"} {
		args := []any{v}
		if strings.Count(verb, "%") == 2 {
			args = append(args, v)
		}
		out[verb] = fmt.Sprintf(verb, args...)
	}
	out["print"] = fmt.Sprint(v)
	for name, marshal := range map[string]func() ([]byte, error){
		"json v1": func() ([]byte, error) { return jsonv1.Marshal(v) },
		"json v2": func() ([]byte, error) { return json.Marshal(v) },
		"xml":     func() ([]byte, error) { return xml.Marshal(v) },
	} {
		if b, err := marshal(); err != nil {
			out[name] = "error: " + err.Error()
		} else {
			out[name] = string(b)
		}
	}
	for name, encoder := range map[string]zapcore.Encoder{
		"zap json":    zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()),
		"zap console": zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig()),
	} {
		var b bytes.Buffer
		log := zap.New(zapcore.NewCore(encoder, zapcore.AddSync(&b), zap.DebugLevel))
		log.Info("m", zap.Any("any", v), zap.Reflect("reflect", v))
		log.Sugar().Infow("m", "v", v)
		log.Sugar().Infof("%v", v)
		require.NoError(t, log.Sync())
		out[name] = b.String()
	}
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("m", "v", v)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("m", "v", v)
	out["slog"] = b.String()
	return out
}

func TestSecretShowsNothing(t *testing.T) {
	t.Parallel()
	type exported struct{ S redact.Secret[string] }
	type unexported struct{ s redact.Secret[string] }
	type nested struct {
		in  []unexported
		at  map[string]unexported
		ptr *unexported
		any any
	}
	secret := redact.NewSecret(canary)
	for _, c := range []struct {
		name string
		in   any
		why  string
	}{
		{"itself", secret, "the methods answer"},
		{"pointer", &secret, "the methods answer through the pointer"},
		{"of a struct", redact.NewSecret(creds{canary, 424242}), "whatever T is"},
		{"of a pointer", redact.NewSecret(&creds{canary, 424242}), "also where fmt would follow it"},
		{"of bytes", redact.NewSecret([]byte(canary)), "also for %x and %s"},
		{"of a map", redact.NewSecret(map[string]any{canary: 424242}), "keys too"},
		{"exported field", exported{secret}, "fmt calls the methods"},
		{"unexported field", unexported{secret}, "fmt calls no method here"},
		{"pointer to a struct", &unexported{secret}, "nor here"},
		{"deep", nested{[]unexported{{secret}}, map[string]unexported{"k": {secret}}, &unexported{secret}, secret}, "nor at depth"},
		{"slice", []redact.Secret[string]{secret}, "elements have their methods"},
		{"map", map[string]redact.Secret[string]{"k": secret}, "values have their methods"},
		{"error", fmt.Errorf("wrapped: %v", secret), "text of an error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for how, text := range shownBy(t, c.in) {
				for _, trace := range []string{canary, canary[:6], "424242", fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), fmt.Sprintf("% x", canary), "WnE3Y2Fu", fmt.Sprintf("%d", []byte(canary))} {
					require.NotContains(t, text, trace, "%s: %s", how, c.why)
				}
			}
		})
	}
	require.Contains(t, shownBy(t, exported{S: redact.Secret[string]{}})["%v"], redact.Redacted)
	require.Contains(t, shownBy(t, creds{canary, 1})["%v"], canary, "the control: what is no secret is found")
	require.Contains(t, shownBy(t, struct{ s string }{canary})["slog"], canary, "the control for unexported fields")
}

func TestSecretSaysThatItIsRedacted(t *testing.T) {
	t.Parallel()
	type holder struct {
		s redact.Secret[int]
		S redact.Secret[int]
	}
	v := holder{s: redact.NewSecret(1), S: redact.NewSecret(2)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
		require.Equal(t, redact.Redacted, fmt.Sprintf(verb, v.S), verb)
		require.Equal(t, 2, strings.Count(fmt.Sprintf(verb, v), redact.Redacted), "%s reaches the unexported one without its methods: %s", verb, fmt.Sprintf(verb, v))
	}
	require.Equal(t, redact.Redacted, v.S.String())
	require.Equal(t, redact.Redacted, fmt.Sprintf("%x", v.S), "no verb spells it otherwise")
	require.Equal(t, redact.Redacted, v.S.LogValue().String())
	for name, marshal := range map[string]func(any) ([]byte, error){
		"v1": jsonv1.Marshal,
		"v2": func(v any) ([]byte, error) { return json.Marshal(v) },
	} {
		b, err := marshal(v)
		require.NoError(t, err)
		require.JSONEq(t, `{"S":"[redacted]"}`, string(b), name)
	}
	text, err := v.S.MarshalText()
	require.NoError(t, err)
	require.Equal(t, redact.Redacted, string(text))
}

func TestSecretReveals(t *testing.T) {
	t.Parallel()
	require.Equal(t, canary, redact.NewSecret(canary).Reveal())
	require.Equal(t, creds{"a", 1}, redact.NewSecret(creds{"a", 1}).Reveal())
	require.Zero(t, redact.Secret[creds]{}.Reveal(), "the zero Secret holds the zero value")
	require.Equal(t, redact.Redacted, redact.Secret[creds]{}.String(), "and does not tell")
}

func TestSecretDecodes(t *testing.T) {
	t.Parallel()
	type input struct {
		User string                         `json:"user"`
		Pass redact.Secret[string]          `json:"pass"`
		Key  *redact.Secret[creds]          `json:"key"`
		Many []redact.Secret[int64]         `json:"many"`
		By   map[string]redact.Secret[bool] `json:"by"`
	}
	doc := []byte(`{"user":"u","pass":"p","key":{"Name":"n","Pin":3},"many":[9007199254740993],"by":{"x":true}}`)
	for name, unmarshal := range map[string]func([]byte, any) error{
		"v1": jsonv1.Unmarshal,
		"v2": func(b []byte, v any) error { return json.Unmarshal(b, v, json.RejectUnknownMembers(true)) },
	} {
		var in input
		require.NoError(t, unmarshal(doc, &in), name)
		require.Equal(t, "p", in.Pass.Reveal(), name)
		require.Equal(t, creds{"n", 3}, in.Key.Reveal(), name)
		require.Equal(t, int64(9007199254740993), in.Many[0].Reveal(), "%s: exact", name)
		require.True(t, in.By["x"].Reveal(), name)
	}
	var bare redact.Secret[string]
	require.NoError(t, json.Unmarshal([]byte(`"x"`), &bare))
	require.Equal(t, "x", bare.Reveal(), "without an enclosing struct")
}

func TestSecretDecodesByTheDecodersRules(t *testing.T) {
	t.Parallel()
	type input struct {
		Key  redact.Secret[creds] `json:"key"`
		Next string               `json:"next"`
	}
	var in input
	require.Error(t, json.Unmarshal([]byte(`{"key":{"Name":"n","Extra":1}}`), &in, json.RejectUnknownMembers(true)), "options reach the inside")
	require.NoError(t, json.Unmarshal([]byte(`{"key":{"Name":"n","Extra":1},"next":"x"}`), &in))
	require.Equal(t, "x", in.Next, "what follows is read as usual")
	require.Error(t, json.Unmarshal([]byte(`{"key":{"Name":"n","Name":"m"}}`), &in), "duplicates inside")
}

func TestSecretDecodingErrorsTellNothing(t *testing.T) {
	t.Parallel()
	type input struct {
		Pin   redact.Secret[int]    `json:"pin"`
		Creds redact.Secret[creds]  `json:"creds"`
		Text  redact.Secret[string] `json:"text"`
	}
	for _, doc := range []string{
		`{"pin":"` + canary + `"}`, `{"pin":42424299999999999999999999}`, `{"creds":{"Name":424242}}`, `{"creds":{"Pin":"` + canary + `"}}`, `{"creds":"` + canary + `"}`,
		`{"text":424242}`,
	} {
		in := input{Pin: redact.NewSecret(7)}
		err := json.Unmarshal([]byte(doc), &in)
		require.Error(t, err, doc)
		for _, verb := range []string{"%v", "%+v", "%#v"} {
			text := fmt.Sprintf(verb, err)
			require.NotContains(t, text, canary, doc)
			require.NotContains(t, text, "424242", doc)
		}
		require.Equal(t, 7, in.Pin.Reveal(), "unchanged")
		serr, ok := err.(*json.SemanticError) //nolint:errorlint // what json returned, not what it wraps
		require.True(t, ok)
		require.NotEmpty(t, serr.JSONPointer, "the place is told")
	}
}

func TestSecretHasTheSchemaOfItsType(t *testing.T) {
	t.Parallel()
	require.Equal(t, reflect.TypeFor[creds](), reflect.TypeOf(redact.NewSecret(creds{canary, 1}).JSONSchemaAlias()))
	require.Equal(t, creds{}, redact.NewSecret(creds{canary, 1}).JSONSchemaAlias(), "the type and not the value")
}
