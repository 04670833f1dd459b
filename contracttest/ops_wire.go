package contracttest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/toolcontract/toolcontract/envelope"
)

func malformed() Refusal { return Refusal{Code: envelope.MalformedJSON} }

// wire sends the smallest document in every form that is none: bytes that a lenient reader repairs.
func (g *generator) wire() {
	root, _, err := g.carrier(place{parts: g.c.whole()}, 0, smallest)
	if err != nil {
		g.fail(place{}, err)
		return
	}
	doc := root.bytes()
	g.bad("wire/empty", malformed(), nil)
	g.cuts(doc)
	g.around(doc)
	g.encodings(doc)
	g.grammar(doc)
	g.tops(root)
	g.sizes(doc)
	g.depths(root)
}

func (g *generator) bad(name string, want Refusal, raw []byte) {
	g.keep(Case{Name: joinName(g.suite, g.tool, name), Tool: g.tool, Keyword: keywordOf(name), Raw: raw, Want: want})
}

func (g *generator) good(name string, raw []byte) {
	g.keep(Case{Name: joinName(g.suite, g.tool, name), Tool: g.tool, Keyword: keywordOf(name), Raw: raw, Valid: true})
}

func keywordOf(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

// maxCuts bounds at how many places a document is cut.
const maxCuts = 96

func (g *generator) cuts(doc []byte) {
	for i := 1; i < len(doc); i++ {
		if len(doc) > maxCuts && i%(1+len(doc)/maxCuts) != 0 && i != len(doc)-1 {
			continue
		}
		g.bad(fmt.Sprintf("wire/cut-%04d", i), malformed(), doc[:i])
	}
}

func (g *generator) around(doc []byte) {
	text := string(doc)
	trailing := Refusal{Code: envelope.TrailingData}
	g.good("wire/space-around", []byte(" \t\r\n"+text+"\n\r\t "))
	for _, t := range []struct {
		name string
		want Refusal
		raw  string
	}{
		{"document-twice", trailing, text + text},
		{"document-after-newline", trailing, text + "\n" + text},
		{"trailing-brace", trailing, text + "}"},
		{"trailing-comma", trailing, text + ","},
		{"trailing-null", trailing, text + " null"},
		{"trailing-text", trailing, text + "x"},
		{"trailing-nul", trailing, text + "\x00"},
		{"trailing-comment", trailing, text + "// " + canaryText(9, 61)},
		{"trailing-form-feed", trailing, text + "\f"},
		{"trailing-vertical-tab", trailing, text + "\v"},
		{"trailing-no-break-space", trailing, text + "\u00a0"},
		{"leading-no-break-space", malformed(), "\u00a0" + text},
		{"leading-byte-order-mark", malformed(), "\ufeff" + text},
		{"trailing-byte-order-mark", trailing, text + "\ufeff"},
		{"leading-nul", malformed(), "\x00" + text},
		{"leading-comment", malformed(), "/**/" + text},
		{"leading-prefix", malformed(), ")]}'\n" + text},
		{"fenced", malformed(), "```json\n" + text + "\n```"},
		{"record-separator", malformed(), "\x1e" + text},
	} {
		g.bad("wire/"+t.name, t.want, []byte(t.raw))
	}
	g.bad("wire/only-space", malformed(), []byte(" \n\t"))
}

func (g *generator) encodings(doc []byte) {
	units := utf16.Encode([]rune(string(doc)))
	le, be := make([]byte, 0, 2*len(units)), make([]byte, 0, 2*len(units))
	for _, u := range units {
		le, be = binary.LittleEndian.AppendUint16(le, u), binary.BigEndian.AppendUint16(be, u)
	}
	g.bad("wire/utf-16-le", malformed(), le)
	g.bad("wire/utf-16-be", malformed(), be)
	g.bad("wire/utf-16-mark", malformed(), append([]byte{0xff, 0xfe}, le...))
	name := bytes.IndexByte(doc, '"')
	for _, t := range []struct{ name, text string }{
		{"invalid-byte", "\xff"},
		{"overlong", "\xc0\xaf"},
		{"encoded-surrogate", "\xed\xa0\x80"},
		{"beyond-unicode", "\xf4\x90\x80\x80"},
		{"cut-sequence", "\xe2\x82"},
		{"lone-high-surrogate", `\ud83d`},
		{"lone-low-surrogate", `\udc00`},
		{"reversed-surrogates", `\udc00\ud83d`},
		{"short-escape", `\u12_`},
		{"unknown-escape", `\x41`},
		{"octal-escape", `\0`},
		{"raw-newline", "\n"},
		{"raw-tab", "\t"},
		{"raw-nul", "\x00"},
		{"raw-escape", "\x1b"},
	} {
		if name >= 0 {
			g.bad("wire/name-"+t.name, malformed(), []byte(string(doc[:name+1])+t.text+string(doc[name+1:])))
		}
		if at := bytes.LastIndexByte(doc, '"'); at > name {
			g.bad("wire/text-"+t.name, malformed(), []byte(string(doc[:at])+t.text+string(doc[at:])))
		}
		g.bad("wire/unknown-"+t.name, malformed(), []byte(`{"`+t.text+`":1}`))
	}
}

func (g *generator) grammar(doc []byte) {
	text := string(doc)
	inner := text[1 : len(text)-1]
	join := func(parts ...string) string {
		return "{" + strings.Join(parts, ",") + "}"
	}
	some := inner
	if some == "" {
		some = `"a":1`
	}
	for _, t := range []struct{ name, raw string }{
		{"comma-last", "{" + some + ",}"},
		{"comma-first", "{," + some + "}"},
		{"comma-twice", join(some, "", `"b":1`)},
		{"comment", "{/* x */" + some + "}"},
		{"hash-comment", "{" + some + "\n# x\n}"},
		{"single-quotes", "{'a':1}"},
		{"bare-name", "{a:1}"},
		{"equals", `{"a"=1}`},
		{"no-colon", `{"a" 1}`},
		{"no-value", `{"a":}`},
		{"no-comma", `{"a":1 "b":2}`},
		{"number-name", `{1:1}`},
		{"undefined", `{"a":undefined}`},
		{"upper-literal", `{"a":TRUE}`},
		{"word-literal", `{"a":None}`},
		{"back-quotes", "{`a`:1}"},
		{"not-closed", text[:len(text)-1] + "]"},
		{"semicolon", `{"a":1;"b":2}`},
	} {
		g.bad("wire/grammar-"+t.name, malformed(), []byte(t.raw))
	}
}

// tops are documents of another kind than an object; and the object in a text, as models send it.
func (g *generator) tops(root *value) {
	if len(root.names) > 0 {
		turned := objectValue()
		for i, name := range root.names {
			turned.names, turned.elems = append(turned.names, name), append(turned.elems, root.elems[i])
		}
		body := string(turned.bytes())
		quoted := textValue(root.names[0]).raw
		g.good("wire/name-in-escapes", []byte(strings.Replace(body, quoted, allEscaped(root.names[0]), 1)))
		g.good("wire/space-inside", []byte("{ \n"+quoted+"\t: "+body[len(quoted)+2:len(body)-1]+"\r }"))
	}
}

// allEscaped spells a name in escapes alone.
func allEscaped(name string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, u := range utf16.Encode([]rune(name)) {
		fmt.Fprintf(&b, `\u%04X`, u)
	}
	b.WriteByte('"')
	return b.String()
}

func (g *generator) sizes(doc []byte) {
	if n := g.limits.Bytes - len(doc); n > 0 {
		g.good("limits/bytes-exact", append(bytes.Clone(doc), bytes.Repeat([]byte{' '}, n)...))
		g.bad("limits/bytes-over", tooLarge(""), append(bytes.Clone(doc), bytes.Repeat([]byte{' '}, n+1)...))
		g.bad("limits/bytes-over-before", tooLarge(""), append(bytes.Repeat([]byte{' '}, n+1), doc...))
	}
	var b strings.Builder
	b.WriteByte('{')
	for i := range g.limits.Members + 1 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"m` + strconv.Itoa(i) + `":0`)
	}
	b.WriteByte('}')
	if b.Len() < g.limits.Bytes {
		g.bad("limits/members-over", tooLarge(""), []byte(b.String()))
	}
}

func (g *generator) depths(root *value) {
	deep := func(open, shut string, n int) string { return strings.Repeat(open, n) + strings.Repeat(shut, n) }
	tooDeep := Refusal{Code: envelope.TooDeep}
	body := string(root.bytes())
	lead := "{"
	if len(root.names) > 0 {
		lead = body[:len(body)-1] + ","
	}
	g.bad("limits/depth-over", tooDeep, []byte(lead+`"Zq7deep":`+deep("[", "]", g.limits.Depth)+"}"))
	g.bad("limits/depth-over-objects", tooDeep, []byte(lead+`"Zq7deep":`+deep(`{"a":`, "}", g.limits.Depth-1)[:5*(g.limits.Depth-1)]+"{}"+strings.Repeat("}", g.limits.Depth-1)+"}"))
	if g.limits.Bytes >= 60_010 {
		g.bad("limits/depth-far-over", tooDeep, []byte(deep("[", "]", 30_000)))
		g.bad("limits/depth-far-over-open", tooDeep, []byte(strings.Repeat("[", 60_000)))
	}
	g.bad("limits/depth-beyond-bytes", tooLarge(""), []byte(deep("[", "]", 100_000)))
	// Exactly the limit is no matter of depth: it is refused for its member alone.
	g.bad("limits/depth-exact", g.unknownAtRoot(), []byte(lead+`"Zq7deep":`+deep("[", "]", g.limits.Depth-1)+"}"))
}

// unknownAtRoot is what a member that the root does not declare is answered with.
func (g *generator) unknownAtRoot() Refusal {
	list, err := g.c.shapes(g.c.whole())
	if err != nil || len(list) == 0 {
		return Refusal{}
	}
	return Refusal{Code: envelope.UnknownField, Field: "Zq7deep", Rule: list[0].closed}
}
