package validate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

func TestPatternsThatNarrow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source string
		narrow bool
		why    string
	}{
		{`^[A-Z]{3}$`, true, "a code"},
		{`^ord_[A-Za-z0-9]{8}$`, true, "an identifier"},
		{`^[A-Za-z0-9_-]+$`, true, "a reference, of any length"},
		{`^[a-z]+(-[a-z]+)*$`, true, "a slug"},
		{`^\d{4}-\d{2}-\d{2}$`, true, "a date"},
		{`^[0-9]{1,3}%$`, true, "a percent sign that nothing follows spells nothing"},
		{`^%[G-Z]{2}$`, true, "no hexadecimal digits after the percent sign"},
		{`^%[0-9][g-z]$`, true, "only one hexadecimal digit"},
		{`^[!-$&-~]{1,40}$`, true, "visible ASCII without the percent sign"},
		{`^$`, true, "one text, the empty one"},
		{`^(in transit|on hold)$`, true, "spaces, in two texts that the author wrote"},
		{`^(yes|no|not yet)$`, true, "an enumeration"},
		{`^(größer|kleiner)$`, true, "not ASCII, but the author's"},
		{`^[ -~]$`, true, "any character, but one"},
		{`^[a-p] [a-p]$`, true, "256 texts"},
		{`^([A-Z]{3}|on hold)$`, false, "a space in one of thousands of texts"},
		{`^[a-p] [a-q]$`, false, "272 texts"},
		{`^[ -~]{2}$`, false, "two characters of any kind: thousands of texts"},
		{`.*`, false, "everything"},
		{``, false, "the empty pattern matches everything"},
		{`^.*$`, false, "everything but line ends"},
		{`^.+$`, false, "the same, and not empty"},
		{`^.{1,40}$`, false, "a short sentence is one"},
		{`^[\d\D]*$`, false, "everything"},
		{`^[^x]*$`, false, "everything without an x"},
		{`^[^ \t\r\n]+$`, false, "other scripts write sentences without spaces"},
		{`^[^ -~]+$`, false, "nothing of ASCII, everything else"},
		{`^\p{L}+$`, false, "letters of all scripts"},
		{`^[a-zäöü]+$`, false, "beyond ASCII"},
		{`^[a-z ]+$`, false, "words"},
		{`^[a-z]+( [a-z]+)?$`, false, "two words"},
		{`^[a-z\t]+$`, false, "control characters"},
		{`^[a-z\n]+$`, false, "lines"},
		{`^[!-~]+$`, false, "percent signs and digits after them"},
		{`^[a-z0-9%]+$`, false, "%20 spells a space"},
		{`^a%[0-9A-F]{2}b.*$`, false, "both"},
		{`[A-Z]{3}`, false, "open at both ends"},
		{`^[A-Z]{3}`, false, "open at the end"},
		{`[A-Z]{3}$`, false, "open at the beginning"},
		{`^[A-Z]+$|x`, false, "the anchors are of one branch only"},
		{`(^a|b$)`, false, "each branch is open at one end"},
		{`^(a|b.*)$`, false, "one branch admits everything"},
		{`$^`, true, "anchored the wrong way round: only the empty text"},
		{`^(|[a-z]+)$`, true, "empty or a word"},
		{`^([a-z]+|[0-9] )$`, false, "words of any length beside a space: the texts are not few"},
	} {
		got, err := validate.Narrow(c.source)
		require.NoError(t, err, c.source)
		require.Equal(t, c.narrow, got, "%s: %s", c.source, c.why)
	}
}

// A pattern that narrows matches none of these.
func FuzzPatternsThatNarrow(f *testing.F) {
	for _, source := range []string{`^[A-Z]{3}$`, `^[a-z%]+$`, `^(a b|c)$`, `x`, `^[^a]*$`} {
		f.Add(source, "a b c d e f", "x")
	}
	f.Fuzz(func(t *testing.T, source, text, more string) {
		narrow, err := validate.Narrow(source)
		if err != nil || !narrow || len(source) > 30 {
			return
		}
		for _, sentence := range []string{text + " " + more + source, text + "忽略" + more + source, more + "%20" + text + source} {
			if len(sentence) <= len(source) || strings.Contains(source, sentence) {
				continue
			}
			found, err := validate.Matches(source, []string{sentence})
			require.NoError(t, err)
			require.Equal(t, []bool{false}, found, "%q matches %q", source, sentence)
		}
	})
}

func TestFormatsThatNarrow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format string
		narrow bool
		why    string
	}{
		{"date", true, "digits and hyphens"},
		{"date-time", true, "digits and marks; a fraction is digits however long"},
		{"time", true, "as date-time"},
		{"duration", true, "digits and units"},
		{"hostname", true, "letters, digits and hyphens, as an identifier"},
		{"ipv4", true, "digits and dots"},
		{"ipv6", true, "hexadecimal digits and colons"},
		{"uuid", true, "hexadecimal digits and hyphens"},
		{"email", false, "ignore%20this@example.com"},
		{"uri", false, "a path, a query and a fragment spell any text"},
	} {
		s, err := validate.Compile([]byte(`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string","maxLength":400,"format":"` + c.format + `"}}}`))
		require.NoError(t, err)
		require.Equal(t, c.narrow, len(s.Untrusted()) == 0, "%s: %s", c.format, c.why)
	}
	require.NoError(t, formatSchema(t, "email").Check([]byte(`"ignore%20this@example.com"`), validate.Limits{}))
}

// object is a closed object with the members, as a document.
func object(members string) string {
	return `{"type":"object","additionalProperties":false,"properties":{` + members + `}}`
}

func TestPlacesOfFreeText(t *testing.T) {
	t.Parallel()
	const (
		text   = `{"type":"string","maxLength":40}`
		code   = `{"type":"string","pattern":"^[A-Z]{3}$"}`
		number = `{"type":"integer"}`
	)
	listOf := func(items string) string { return `{"type":"array","maxItems":3,"items":` + items + `}` }
	mapOf := func(values, more string) string {
		return `{"type":"object","maxProperties":3,"additionalProperties":` + values + more + `}`
	}
	for _, c := range []struct {
		name, doc string
		want      []string
		why       string
	}{
		{"string", object(`"a":` + text), []string{"a"}, ""},
		{"code", object(`"a":` + code), nil, "the pattern narrows"},
		{"permissive pattern", object(`"a":{"type":"string","maxLength":40,"pattern":"^.+$"}`), []string{"a"}, "the pattern narrows nothing"},
		{"null or string", object(`"a":{"type":["string","null"],"maxLength":40}`), []string{"a"}, "a string may stand there"},
		{"enum", object(`"a":{"enum":["a b","c d"]}`), nil, "the author wrote them"},
		{"pattern beside", object(`"a":{"type":"string","maxLength":40,"allOf":[` + code + `]}`), nil, "both apply"},
		{"pattern by reference", `{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/C"}},"$defs":{"C":` + code + `}}`, nil, "what is referred to counts"},
		{"two codes", object(`"a":{"anyOf":[` + code + `,{"type":"string","enum":["on hold"]}]}`), nil, "each choice narrows"},
		{"code or number", object(`"a":{"anyOf":[` + code + `,` + number + `]}`), nil, "a number is no text"},
		{"code or text", object(`"a":{"anyOf":[` + code + `,` + text + `]}`), []string{"a"}, "one choice does not"},
		{"list", object(`"a":` + listOf(text)), []string{"a[]"}, ""},
		{"list of lists", object(`"a":` + listOf(listOf(object(`"b":`+text)))), []string{"a[][].b"}, ""},
		{"list of codes", object(`"a":` + listOf(code)), nil, ""},
		{"tuple", object(`"a":{"type":"array","maxItems":2,"prefixItems":[` + code + `,` + text + `],"items":false}`), []string{"a[1]"}, "one place of two"},
		{"map of numbers", object(`"a":` + mapOf(number, "")), []string{"a"}, "the keys alone"},
		{"map of texts", object(`"a":` + mapOf(text, "")), []string{"a", "a{}"}, "keys and values"},
		{"map of codes", object(`"a":` + mapOf(code, `,"propertyNames":`+code)), nil, "both narrow"},
		{"map with free names", object(`"a":` + mapOf(code, `,"propertyNames":`+text)), []string{"a"}, "propertyNames bound only the length"},
		{"map with few names", object(`"a":` + mapOf(text, `,"propertyNames":{"enum":["a b"]}`)), []string{"a{}"}, "the keys are enumerated"},
		{"names beside", object(`"a":` + mapOf(number, `,"allOf":[{"propertyNames":`+code+`}]`)), nil, "both apply"},
		{"names in one choice", object(`"a":` + mapOf(number, `,"anyOf":[{"propertyNames":`+code+`},{"minProperties":1}]`)), []string{"a"}, "the other choice leaves them free"},
		{"patterned names", object(`"a":{"type":"object","maxProperties":3,"additionalProperties":false,"patternProperties":{"^[a-z]{2}$":` + number + `}}`), nil, "names of two letters"},
		{"patterned names, open", object(`"a":{"type":"object","maxProperties":3,"additionalProperties":false,"patternProperties":{"^x-":` + number + `}}`), []string{"a"}, "the pattern is open at its end"},
		{"unevaluated", object(`"a":{"type":"object","maxProperties":3,"unevaluatedProperties":` + number + `}`), []string{"a"}, "a map by another keyword"},
		{"list of maps of lists", object(`"a":` + listOf(mapOf(listOf(text), ""))), []string{"a[]", "a[]{}[]"}, ""},
		{"map or text", object(`"a":{"oneOf":[` + text + `,` + mapOf(number, "") + `]}`), []string{"a"}, "once, for both"},
		{"map in a union", object(`"a":{"oneOf":[` + object(`"kind":{"const":"x"},"b":`+listOf(mapOf(number, ""))) + `,` +
			object(`"kind":{"const":"y"},"b":`+listOf(object(`"c":`+text))) + `]}`), []string{"a.b[]", "a.b[].c"}, "the branches share their places"},
		{"unions in lists in unions", object(`"a":{"oneOf":[` + object(`"kind":{"const":"x"},"b":`+listOf(`{"oneOf":[`+number+`,`+text+`]}`)) + `,` +
			object(`"kind":{"const":"y"},"c":`+code) + `]}`), []string{"a.b[]"}, ""},
		{"condition", object(`"a":{"type":"string","maxLength":40,"if":{"minLength":3},"then":` + code + `}`), []string{"a"}, "a condition may not hold"},
		{"document is a text", text, []string{""}, "the place of the document"},
		{"document is a list", listOf(text), []string{"[]"}, ""},
		{"document is a map", mapOf(text, ""), []string{"", "{}"}, "its keys, and its values"},
		{"tree", `{"$ref":"#/$defs/T","$defs":{"T":` + object(`"name":`+text+`,"below":`+listOf(`{"$ref":"#/$defs/T"}`)) + `}}`, []string{"name", "below[]"}, "the names of what is below too"},
		{"tree of codes", `{"$ref":"#/$defs/T","$defs":{"T":` + object(`"name":`+code+`,"below":`+listOf(`{"$ref":"#/$defs/T"}`)) + `}}`, nil, "no free text at any depth"},
		{"tree within", `{"type":"object","additionalProperties":false,"properties":{"t":{"$ref":"#/$defs/T"},"n":` + number + `},"$defs":{"T":` +
			object(`"below":`+listOf(`{"$ref":"#/$defs/T"}`)+`,"of":`+mapOf(number, "")) + `}}`, []string{"t.of", "t.below[]"}, "keys at any depth"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := validate.Compile([]byte(c.doc))
			require.NoError(t, err)
			require.Equal(t, c.want, s.Untrusted(), c.why)
		})
	}
}

// Declared classes count for the keys of a map as for its values, and a recording hides a map's entries with its keys.
func TestClassesAndKeys(t *testing.T) {
	t.Parallel()
	type tree struct {
		Name  string `json:"name"`
		Below []tree `json:"below"`
	}
	type answer struct {
		Ours   map[string]string `json:"ours" redact:"trusted"`
		Counts map[string]int    `json:"counts"`
		Mail   string            `json:"mail" jsonschema:"format=email"`
		Said   string            `json:"said" redact:"trusted" jsonschema:"pattern=^.*$"`
		Theirs string            `json:"theirs" redact:"untrusted" jsonschema:"pattern=^[A-Z]{3}$"`
		Tree   tree              `json:"tree"`
	}
	s, err := validate.For[answer](validate.Output())
	require.NoError(t, err)
	require.Equal(t, []string{"counts", "mail", "theirs", "tree.name", "tree.below[]"}, s.Untrusted())
	require.Equal(t, []string{"counts{}", "mail", "theirs", "tree.name", "tree.below[]"}, s.Hidden())
	for _, f := range s.Fields() {
		require.NotEmpty(t, f.Path, "the document is no field")
		require.Equal(t, f.Path == "counts", f.Keys, f.Path)
	}
}
