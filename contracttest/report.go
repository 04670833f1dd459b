package contracttest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/toolcontract/toolcontract/redact"
)

// Report is what a run of the suites came to.
type Report struct {
	Keywords []KeywordRow // what was made of each keyword of each tool's input
	Skips    []SkipRow
	Failures []Failure
	// Executed counts the cases that ran; Refused and Accepted those of the Input suite by how they were answered.
	Executed, Refused, Accepted, HandlerCalls int
	// NotJudged are cases that ran and found nothing to judge, with the reason: they say nothing of the adapter.
	NotJudged []NotJudgedRow

	faults []error // of the generator, of options, of fixtures
}

// KeywordRow says what was made of one keyword at one place.
type KeywordRow struct {
	Tool, Place, Keyword string
	Valid, Invalid       int    // cases
	Implied              string // what leaves nothing for the keyword to refuse; empty otherwise
}

// NotJudgedRow is one case that found nothing to judge.
type NotJudgedRow struct{ Case, Reason string }

// SkipRow is one Skip and how many cases it matched.
type SkipRow struct {
	Pattern, Reason string
	Matched         int
}

// Failure is one case that went wrong, with what is needed to mend the adapter.
type Failure struct {
	Case, Test     string // its name; the test that ran it, empty under Check
	Operator       string // what was done to a valid document
	Keyword, Field string
	Want, Got      string
	HandlerCalls   int
	Declared       string   // what the schema or the limits say of the keyword
	Answer         string   // the answer as the model gets it, or its beginning
	Received       []string // what the handlers got, or its beginning
	Leaks          []string // sink and form, where a value turned up
	Sent           string   // the document, or its beginning
	Steps          []string // what happened before, in order, where a case has more than one call
	Hint           string
}

// Err returns nil when everything that was asked for ran and passed. A run in which nothing was executed is an error. Of
// failures that say the same of different cases it tells the first, and names some of the others.
func (r *Report) Err() error {
	errs := append([]error(nil), r.faults...)
	for _, c := range causes(r.Failures) {
		errs = append(errs, errors.New(c.String()))
	}
	if r.Executed == 0 {
		errs = append(errs, errors.New("contracttest: no case was executed"))
	}
	return errors.Join(errs...)
}

// String is the failure on one screen.
func (f Failure) String() string {
	var b strings.Builder
	line := func(name, text string) {
		if text == "" {
			return
		}
		for _, part := range strings.Split(text, "\n") {
			fmt.Fprintf(&b, "\n  %-9s %s", name, redact.Visible(part))
			name = ""
		}
	}
	b.WriteString(redact.Visible(f.Case))
	if f.Test != "" {
		line("run", "go test -run '"+runPattern(f.Test, f.Case)+"'")
	}
	line("operator", f.Operator)
	if f.Declared == "" {
		line("keyword", f.Keyword)
	} else {
		line("keyword", f.Keyword+", declared "+f.Declared)
	}
	if f.Keyword != "" {
		line("field", quoteField(f.Field))
	}
	line("want", f.Want)
	line("got", f.Got)
	line("answer", f.Answer)
	line("handler", calls(f.HandlerCalls))
	for _, in := range f.Received {
		line("received", in)
	}
	for _, leak := range f.Leaks {
		line("leaked", leak)
	}
	line("sent", f.Sent)
	for i, step := range f.Steps {
		name := "steps"
		if i > 0 {
			name = ""
		}
		line(name, step)
	}
	line("hint", f.Hint)
	return b.String()
}

// runPattern is what -run takes for exactly this case.
func runPattern(test, name string) string {
	elems := strings.Split(test+"/"+name, "/")
	for i := range elems {
		elems[i] = "^" + regexp.QuoteMeta(strings.ReplaceAll(elems[i], " ", "_")) + "$"
	}
	return strings.ReplaceAll(strings.Join(elems, "/"), "'", `'\''`)
}

func quoteField(field string) string {
	if field == "" {
		return "the root"
	}
	return field
}

func calls(n int) string {
	switch n {
	case 0:
		return "not called"
	case 1:
		return "called once"
	}
	return fmt.Sprintf("called %d times", n)
}

// String says what the refusal is.
func (r Refusal) String() string {
	text := string(r.Code) + " at " + quoteField(r.Field)
	if r.Rule != "" {
		text += ", rule " + r.Rule
	}
	return text
}

// shown is the beginning of a document that a screen can hold.
func shown(raw []byte) string { return shownTo(raw, 240) }

func shownTo(raw []byte, most int) string {
	text := strings.ToValidUTF8(string(raw), "\ufffd")
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return '\u2400' + r
		}
		return r
	}, text)
	if len(raw) > most {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:most], ""), len(raw))
	}
	return text
}
