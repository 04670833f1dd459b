package contracttest

import (
	"fmt"
	"regexp"
	"strings"
)

// cause is one failure, and the cases of which the same is to be said.
type cause struct {
	first Failure
	more  []string
}

// causes puts failures together that say the same of the same keyword, whatever the field and whatever they quote, in the
// order of the first.
func causes(list []Failure) (out []*cause) {
	at := map[string]*cause{}
	for _, f := range list {
		key := f.cause()
		if c := at[key]; c != nil {
			c.more = append(c.more, f.Case)
			continue
		}
		at[key] = &cause{first: f}
		out = append(out, at[key])
	}
	return out
}

// quoted is what a failure quotes of a call or an answer: another text each time.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// cause is what two failures of one fault have in common.
func (f Failure) cause() string {
	suite, _, _ := strings.Cut(f.Case, "/")
	anywhere := func(text string) string {
		text = quoted.ReplaceAllLiteralString(text, `"*"`)
		if f.Field == "" {
			return strings.ReplaceAll(text, quoteField(""), "*")
		}
		return strings.ReplaceAll(text, f.Field, "*")
	}
	parts := append(make([]string, 0, 6+len(f.Leaks)), suite, f.Keyword, anywhere(f.Want), anywhere(f.Got), f.Hint, calls(f.HandlerCalls))
	for _, leak := range f.Leaks {
		where, _, _ := strings.Cut(leak, ":")
		parts = append(parts, where)
	}
	return strings.Join(parts, "\x00")
}

// namedCauses is how many other cases of a cause are named.
const namedCauses = 3

func (c *cause) String() string {
	text := c.first.String()
	if len(c.more) == 0 {
		return text
	}
	text += fmt.Sprintf("\n  and so    %d more: %s", len(c.more), strings.Join(c.more[:min(len(c.more), namedCauses)], ", "))
	if len(c.more) > namedCauses {
		text += ", …"
	}
	return text
}
