package main

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/envelope"
)

// taking accepts refusals of a code and a rule, where the predicate holds.
func taking(code envelope.Code, rule string, when func(c envelope.Call, e *envelope.Error) bool) func(m *meddler) {
	return func(m *meddler) {
		m.accept = func(c envelope.Call, e *envelope.Error) bool {
			return e.Code == code && (rule == "" || e.Rule == rule) && (when == nil || when(c, e))
		}
	}
}

// changing rewrites the bytes that are sent.
func changing(change func(raw []byte) []byte) func(m *meddler) {
	return func(m *meddler) {
		m.before = func(c *envelope.Call) { c.Arguments = change(c.Arguments) }
	}
}

// repairing rewrites every value of what is sent.
func repairing(change func(v any) any) func(m *meddler) {
	return func(m *meddler) {
		m.before = func(c *envelope.Call) { rewrite(c, func(v any) any { return each(v, change) }) }
	}
}

func answering(change func(m *meddler, c envelope.Call, r envelope.Result) envelope.Result) func(m *meddler) {
	return func(m *meddler) {
		m.after = func(c envelope.Call, r envelope.Result) envelope.Result { return change(m, c, r) }
	}
}

// at returns the value of a refusal's field.
func at(raw []byte, field string) any {
	v, _ := lenient(raw)
	for _, step := range regexp.MustCompile(`[^.\[\]]+`).FindAllString(field, -1) {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// under returns the schemas that speak of a field, whatever branch it is in.
func under(doc any, field string) (out []map[string]any) {
	level := []any{doc}
	for _, step := range regexp.MustCompile(`[^.\[\]]+`).FindAllString(field, -1) {
		var next []any
		for _, s := range spread(level) {
			if props, ok := s["properties"].(map[string]any); ok && props[step] != nil {
				next = append(next, props[step])
			} else if items := s["items"]; items != nil {
				next = append(next, items)
			} else if more, ok := s["additionalProperties"].(map[string]any); ok {
				next = append(next, more)
			}
		}
		level = next
	}
	return spread(level)
}

func spread(level []any) (out []map[string]any) {
	for _, v := range level {
		s, ok := v.(map[string]any)
		if !ok {
			continue
		}
		out = append(out, s)
		for _, key := range []string{"oneOf", "anyOf"} {
			if list, ok := s[key].([]any); ok {
				out = append(out, spread(list)...)
			}
		}
	}
	return out
}

func (m *meddler) rules(wire, field, keyword string) (out []any) {
	doc, _ := lenient(m.schema(wire))
	for _, s := range under(doc, field) {
		if v, ok := s[keyword]; ok {
			out = append(out, v)
		}
	}
	return out
}

// loosely accepts a text that breaks a keyword, where a careless comparison would take it.
func loosely(rule string, same func(declared, text string) bool) func(m *meddler) {
	return func(m *meddler) {
		m.accept = func(c envelope.Call, e *envelope.Error) bool {
			text, ok := at(c.Arguments, e.Field).(string)
			if !ok || e.Rule != rule {
				return false
			}
			for _, v := range m.rules(c.Tool, e.Field, rule) {
				list, isList := v.([]any)
				if !isList {
					list = []any{v}
				}
				for _, d := range list {
					if declared, ok := d.(string); ok && same(declared, text) {
						return true
					}
				}
			}
			return false
		}
	}
}

// depthOf is how deep the brackets of a document go.
func depthOf(raw []byte) (most int) {
	depth := 0
	for _, c := range raw {
		switch c {
		case '[', '{':
			depth++
			most = max(most, depth)
		case ']', '}':
			depth--
		}
	}
	return most
}

func coerced(kind string, from func(v any) bool) func(m *meddler) {
	return func(m *meddler) {
		m.accept = func(c envelope.Call, e *envelope.Error) bool {
			if e.Rule != "type" || !from(at(c.Arguments, e.Field)) {
				return false
			}
			for _, t := range m.rules(c.Tool, e.Field, "type") {
				if t == kind || kind == "number" && t == "integer" {
					return true
				}
			}
			return false
		}
	}
}

var (
	surrogate = regexp.MustCompile(`\\u[dD][89abcdefABCDEF][0-9a-fA-F]{2}`)
	bareZero  = regexp.MustCompile(`([:,\[])0+([1-9])`)
	comments  = regexp.MustCompile(`/\*.*?\*/|//.*|#.*`)
	lastComma = regexp.MustCompile(`,\s*([}\]])`)
)

func brokenInput() []broken {
	in := func(name, by string, session func(m *meddler)) broken {
		return broken{name: name, suite: "input", by: "input/*/" + by, session: session}
	}
	invalid := envelope.InvalidArgument
	isText := func(v any) bool { _, ok := v.(string); return ok }
	isNumber := func(v any) bool { _, ok := v.(float64); return ok }
	list := []broken{
		in("handler-before-validate", "**", func(m *meddler) { m.first = func(c envelope.Call) { m.f.Probe.Enter(c.Tool, nil) } }),
		in("size-off-by-one", "limits/bytes-over*", taking(envelope.PayloadTooLarge, "limit", func(c envelope.Call, _ *envelope.Error) bool { return len(c.Arguments) == 64<<10+1 })),
		in("no-size-limit", "limits/bytes-over*", taking(envelope.PayloadTooLarge, "limit", func(c envelope.Call, _ *envelope.Error) bool { return len(c.Arguments) > 64<<10 })),
		in("decoder-trailing", "wire/trailing-*", changing(func(raw []byte) []byte {
			dec := jsontext.NewDecoder(bytes.NewReader(raw))
			if v, err := dec.ReadValue(); err == nil {
				return v
			}
			return raw
		})),
		in("strip-bom", "wire/leading-byte-order-mark", changing(func(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte("\ufeff")) })),
		in("dup-last-wins", "**/twice-*", taking(envelope.DuplicateMember, "", nil)),
		in("invalid-utf8", "wire/*-invalid-byte", changing(func(raw []byte) []byte { return bytes.ToValidUTF8(raw, []byte("?")) })),
		in("lone-surrogate", "wire/*surrogate*", changing(func(raw []byte) []byte { return surrogate.ReplaceAll(raw, []byte("?")) })),
		in("depth-off-by-one", "limits/depth-over*", answering(func(_ *meddler, c envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Code == envelope.TooDeep && depthOf(c.Arguments) == 33 {
				r.Error = envelope.New(envelope.UnknownField)
			}
			return r
		})),
		in("no-depth-limit", "limits/depth-far-over", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Code == envelope.TooDeep {
				r.Error = envelope.New(invalid)
			}
			return r
		})),
		in("float64-numbers", "**/beyond-double*", changing(func(raw []byte) []byte {
			return regexp.MustCompile(`-?[0-9]{16,}`).ReplaceAllFunc(raw, func(n []byte) []byte {
				f, err := strconv.ParseFloat(string(n), 64)
				if err != nil || math.Abs(f) > 9e18 {
					return n
				}
				return []byte(strconv.FormatFloat(f, 'f', 0, 64))
			})
		})),
		in("top-null-as-empty", "type-null", changing(func(raw []byte) []byte {
			if string(raw) == "null" {
				return []byte("{}")
			}
			return raw
		})),
		in("trim-strings", "**/text-spaces-kept", repairing(func(v any) any {
			if s, ok := v.(string); ok {
				return strings.TrimSpace(s)
			}
			return v
		})),
		in("wrong-code", "**", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Code == invalid {
				r.Error = envelope.New(envelope.PreconditionFailed).At(r.Error.Field)
			}
			return r
		})),
		in("wrong-field", "**", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && strings.Contains(r.Error.Field, ".") {
				r.Error = r.Error.At(r.Error.Field[strings.LastIndex(r.Error.Field, ".")+1:])
			}
			return r
		})),
		in("wrong-rule", "**", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Rule == "pattern" {
				e := *r.Error
				e.Rule = "format"
				r.Error = &e
			}
			return r
		})),
		in("echo-in-log", "**", answering(func(m *meddler, c envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil {
				m.f.Sinks["log"].Plant(string(c.Arguments))
			}
			return r
		})),
		in("echo-value", "**", answering(func(_ *meddler, c envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil {
				e := *r.Error
				e.Message = "not valid: " + string(c.Arguments)
				r.Error = &e
			}
			return r
		})),
		in("echo-short-value", "**", answering(func(_ *meddler, c envelope.Call, r envelope.Result) envelope.Result {
			if s, ok := at(c.Arguments, fieldOf(r)).(string); ok && len(s) < 5 {
				e := *r.Error
				e.Message += ": " + s
				r.Error = &e
			}
			return r
		})),
		in("echo-key", "**/unknown-*", answering(func(m *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Code == envelope.UnknownField {
				m.f.Sinks["audit"].Plant(r.Error.Field)
			}
			return r
		})),
		in("echo-in-span", "**", answering(func(m *meddler, c envelope.Call, r envelope.Result) envelope.Result {
			if s, ok := at(c.Arguments, fieldOf(r)).(string); ok {
				m.f.Sinks["spans"].Plant(s)
			}
			return r
		})),
		in("metric-label-value", "**", answering(func(m *meddler, c envelope.Call, r envelope.Result) envelope.Result {
			if s, ok := at(c.Arguments, fieldOf(r)).(string); ok {
				m.f.Sinks["metrics"].Plant(s)
			}
			return r
		})),
		in("default-branch", "**/kind/*", repairing(func(v any) any {
			if o, ok := v.(map[string]any); ok && o["iban"] != nil && o["kind"] != "card" {
				o["kind"] = "bank"
			}
			return v
		})),
		in("mixed-branch-ok", "**/mixed-*", taking(envelope.UnknownField, "", func(_ envelope.Call, e *envelope.Error) bool {
			return slices.Contains([]string{"to.iban", "to.last4", "to.days", "to.holder", "to.via"}, e.Field)
		})),
		in("unknown-tag-first", "**/const-*", taking(invalid, "const", nil)),
		in("coerce-string-number", "**/type-quoted*", coerced("number", func(v any) bool { _, err := strconv.ParseFloat(text(v), 64); return isText(v) && err == nil })),
		in("coerce-number-string", "**/type-integer*", coerced("string", isNumber)),
		in("coerce-bool", "**/type-*", coerced("boolean", func(v any) bool { return v == "true" || v == 0.0 || v == 1.0 })),
		in("scalar-as-array", "**/type-*", coerced("array", isText)),
		in("array-as-scalar", "**/type-wrapped*", coerced("string", func(v any) bool { l, ok := v.([]any); return ok && len(l) == 1 })),
		in("null-as-absent", "**/type-null*", taking(invalid, "type", func(c envelope.Call, e *envelope.Error) bool { return e.Field != "" && at(c.Arguments, e.Field) == nil })),
		in("truncate-float", "**/type-fraction*", coerced("integer", func(v any) bool { f, ok := v.(float64); return ok && f != math.Trunc(f) })),
		in("enum-case-insensitive", "**/enum-*", loosely("enum", strings.EqualFold)),
		in("enum-prefix", "**/enum-prefix-*", loosely("enum", func(d, s string) bool { return s != "" && strings.HasPrefix(d, s) })),
		in("const-case-insensitive", "**/const-*", loosely("const", strings.EqualFold)),
		in("pattern-icase", "**/pattern-*", loosely("pattern", func(p, s string) bool { return regexp.MustCompile("(?i)" + p).MatchString(s) })),
		in("pattern-unanchored", "**/pattern-*", loosely("pattern", func(p, s string) bool {
			return regexp.MustCompile(strings.TrimSuffix(strings.TrimPrefix(p, "^"), "$")).MatchString(s)
		})),
		in("pattern-multi-line", "**/pattern-*", loosely("pattern", func(p, s string) bool { return regexp.MustCompile("(?m)" + p).MatchString(s) })),
		in("len-bytes", "**/maxLength-exact-*", func(m *meddler) {
			m.refuse = func(c envelope.Call) *envelope.Error { return m.longer(c, func(s string) int { return len(s) }) }
		}),
		in("len-utf16", "**/maxLength-exact-astral", func(m *meddler) {
			m.refuse = func(c envelope.Call) *envelope.Error {
				return m.longer(c, func(s string) int { return len(s) - 2*strings.Count(s, "𝛼") - 2*strings.Count(s, "𝒷") })
			}
		}),
		in("length-off-by-one", "**/maxLength-over*", taking(invalid, "maxLength", func(c envelope.Call, e *envelope.Error) bool {
			n := utf8.RuneCountInString(text(at(c.Arguments, e.Field)))
			return n == 201 || n == 71 || n == 9 || n == 21 || n == 4097 || n == 1025
		})),
		in("maximum-exclusive", "**/maximum-exact*", func(m *meddler) {
			m.refuse = func(c envelope.Call) *envelope.Error {
				if bytes.Contains(c.Arguments, []byte(`"days":365`)) {
					return envelope.New(invalid).At("to.days")
				}
				return nil
			}
		}),
		in("multipleOf-float", "**/multipleOf-misjudged-*", func(m *meddler) {
			m.refuse = func(c envelope.Call) *envelope.Error {
				if f, ok := at(c.Arguments, "rate").(float64); ok && f > 0 && f <= 10 && f/0.01 != math.Trunc(f/0.01) {
					return envelope.New(invalid).At("rate")
				}
				return nil
			}
		}),
		in("int32", "**", changing(func(raw []byte) []byte {
			return regexp.MustCompile(`"amount_minor":([0-9]{10,19})`).ReplaceAll(raw, []byte(`"amount_minor":2147483647`))
		})),
		in("unknown-null-ok", "**/unknown-null*", taking(envelope.UnknownField, "", func(c envelope.Call, e *envelope.Error) bool { return at(c.Arguments, e.Field) == nil })),
		in("casefold", "**/unknown-*", taking(envelope.UnknownField, "", func(_ envelope.Call, e *envelope.Error) bool { return e.Field != strings.ToLower(e.Field) })),
		in("unknown-nested-ok", "**/unknown-*", taking(envelope.UnknownField, "", func(_ envelope.Call, e *envelope.Error) bool { return strings.Contains(e.Field, ".") })),
		in("required-nested-skip", "**/required-*", taking(invalid, "required", func(_ envelope.Call, e *envelope.Error) bool { return strings.Contains(e.Field, ".") })),
		in("optional-unvalidated", "**/holder/*", taking(invalid, "", func(_ envelope.Call, e *envelope.Error) bool { return e.Field == "to.holder" || e.Field == "contact" })),
		in("array-first-only", "**/items-*", taking(invalid, "", func(_ envelope.Call, e *envelope.Error) bool {
			return strings.Contains(e.Field, "[1]") || strings.Contains(e.Field, "[2]")
		})),
		in("unique-ignored", "**/uniqueItems-*", taking(invalid, "uniqueItems", nil)),
		in("items-unbounded", "**/maxItems-*", taking(invalid, "maxItems", nil)),
		in("map-unbounded", "**/maxProperties-*", taking(invalid, "maxProperties", nil)),
		in("format-not-asserted", "**/format-*", taking(invalid, "format", nil)),
		in("nul-in-text", "**/nul*", taking(invalid, "nul", nil)),
		in("huge-exponent", "**/number-exponent-*", taking(envelope.PayloadTooLarge, "limit", func(c envelope.Call, _ *envelope.Error) bool {
			return bytes.ContainsAny(c.Arguments, "eE") && len(c.Arguments) < 4096
		})),
		in("leading-zeros", "**/number-malformed-*", changing(func(raw []byte) []byte { return bareZero.ReplaceAll(raw, []byte("$1$2")) })),
		in("comments", "wire/*comment*", changing(func(raw []byte) []byte {
			if bytes.Contains(raw, []byte("https:")) {
				return raw
			}
			return comments.ReplaceAll(raw, nil)
		})),
		in("trailing-commas", "wire/grammar-comma-last", changing(func(raw []byte) []byte { return lastComma.ReplaceAll(raw, []byte("$1")) })),
		in("closes-brackets", "wire/cut-*", changing(closed)),
		in("double-encoded", "type-quoted*", changing(func(raw []byte) []byte {
			var s string
			if json.Unmarshal(raw, &s) == nil && strings.HasPrefix(s, "{") {
				return []byte(s)
			}
			return raw
		})),
		in("unfences", "wire/fenced", changing(func(raw []byte) []byte {
			return bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("```json\n")), []byte("\n```"))
		})),
		in("retryable-refusal", "**", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Code == invalid {
				e := *r.Error
				e.Retryable = true
				r.Error = &e
			}
			return r
		})),
		in("handler-twice", "**", func(m *meddler) {
			m.after = func(c envelope.Call, r envelope.Result) envelope.Result {
				if r.OK && strings.HasPrefix(c.Tool, "search") {
					return m.run.Call(m.ctx, c)
				}
				return r
			}
		}),
		in("data-beside-error", "**", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil {
				r.Data = jsontext.Value(`{}`)
			}
			return r
		})),
		in("html-escapes", "**/text-*", repairing(func(v any) any {
			if s, ok := v.(string); ok {
				return strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;").Replace(s)
			}
			return v
		})),
		in("normalises", "**/text-composed-kept", repairing(func(v any) any {
			if s, ok := v.(string); ok {
				return strings.ReplaceAll(s, "e\u0301", "é")
			}
			return v
		})),
	}
	return list
}

func fieldOf(r envelope.Result) string {
	if r.Error == nil || r.Error.Field == "" {
		return "\x00"
	}
	return r.Error.Field
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// longer refuses a note that is over its maxLength by a wrong measure.
func (m *meddler) longer(c envelope.Call, measure func(string) int) *envelope.Error {
	if measure(text(at(c.Arguments, "note"))) > 200 || measure(text(at(c.Arguments, "text"))) > 200 {
		e := envelope.New(envelope.InvalidArgument).At("note")
		e.Rule = "maxLength"
		return e
	}
	return nil
}

// closed adds the quotes and brackets that a cut document lacks.
func closed(raw []byte) []byte {
	out := bytes.Clone(raw)
	var open []byte
	inText := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{':
			open = append(open, '}')
		case c == '[':
			open = append(open, ']')
		case (c == '}' || c == ']') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if inText {
		out = append(out, '"')
	}
	for i := len(open) - 1; i >= 0; i-- {
		out = append(out, open[i])
	}
	return out
}
