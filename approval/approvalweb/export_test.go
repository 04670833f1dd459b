package approvalweb

import "time"

// Money is how an amount is written.
func Money(minor int64, currency string) string { return money(minor, currency) }

// Marked is a text as it is shown, every mark between two bars.
func Marked(text string) string { return marked(marks(text)) }

// MarkedData is a line of data as it is shown, every mark between two bars.
func MarkedData(line string) string { return marked(dataMarks(line)) }

func marked(segments []segment) string {
	out := ""
	for _, s := range segments {
		if s.Mark {
			s.Text = "|" + s.Text + "|"
		}
		if s.Break {
			s.Text += "/"
		}
		out += s.Text
	}
	return out
}

// Clock, Age and At are how times are written.
func Clock(left time.Duration) string { return clock(left) }
func Age(d time.Duration) string      { return age(d) }
func At(t, now time.Time) string      { return at(t, now) }

// ToolWords are the words of a wire name.
func ToolWords(wire string) string { return toolWords(wire) }

// Paragraphs are an agent's words as they are shown.
func Paragraphs(text string) []string { return paragraphs(text) }

// Problems are all that a page can say was wrong.
func Problems() map[string][3]string {
	out := map[string][3]string{}
	for p := none + 1; p <= forgotten; p++ {
		s := p.say()
		out[s.Heading] = [3]string{s.Words, s.Field, time.Duration(s.Status).String()}
	}
	return out
}

// ProblemCount is how many there are.
const ProblemCount = int(forgotten)
