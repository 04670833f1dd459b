package approvalweb_test

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval/approvalweb"
	"github.com/toolcontract/toolcontract/redact"
)

func TestMoney(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		minor    int64
		currency string
		want     string
		why      string
	}{
		{4900, "EUR", "49.00 EUR", "two decimal places"},
		{123456789, "USD", "1,234,567.89 USD", "groups of three"},
		{100000, "EUR", "1,000.00 EUR", "a thousand"},
		{99999, "EUR", "999.99 EUR", "no group yet"},
		{5, "EUR", "0.05 EUR", "less than one"},
		{0, "EUR", "0.00 EUR", "nothing, but said"},
		{-1250, "EUR", "−12.50 EUR", "the other direction"},
		{4900, "JPY", "4,900 JPY", "yen have none: not 49.00"},
		{4900, "KWD", "4.900 KWD", "three"},
		{12, "BHD", "0.012 BHD", "three, less than one"},
		{123456, "CLF", "12.3456 CLF", "four"},
		{4900, "eur", "4,900 in the smallest unit of eur", "not a code of the standard: nothing is guessed"},
		{4900, "XAU", "4,900 in the smallest unit of XAU", "gold has no minor unit"},
		{4900, "", "4,900 in the smallest unit of a currency that was not said", "nothing is guessed"},
		{math.MinInt64, "EUR", "−92,233,720,368,547,758.08 EUR", "the most negative"},
		{math.MaxInt64, "JPY", "9,223,372,036,854,775,807 JPY", "the greatest"},
	} {
		require.Equal(t, c.want, approvalweb.Money(c.minor, c.currency), c.why)
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want, why string }{
		{"plain", "4 Harbour Row", "4 Harbour Row", "nothing to mark"},
		{"empty", "", "", "nothing at all"},
		{"override", "Lübeck\u202e", "Lübeck|⟦U+202E⟧|", "changes the order of what is read"},
		{"a text that looks like a mark", "Lübeck⟦U+202E⟧", "Lübeck⟦U+202E⟧", "is what it is: text"},
		{"both", "⟦\u202e⟧", "⟦|⟦U+202E⟧|⟧", "told apart"},
		{"invalid byte", "a\xffb", "a|⟦0xFF⟧|b", "no text"},
		{"first byte of a bracket", "\xe2a", "|⟦0xE2⟧|a", "not taken for the mark's own bracket"},
		{"emoji", "👩\u200d💻 ❤\ufe0f", "👩\u200d💻 ❤\ufe0f", "a joiner within an emoji shapes it"},
		{"joiner outside", "👩\u200dx", "👩|⟦U+200D⟧|x", "hides"},
		{"line end", "one\ntwo", "one|⟦U+000A⟧|/two", "marked, and the line ends"},
		{"outer spaces", "  a b ", "|⟦U+0020⟧||⟦U+0020⟧|a b|⟦U+0020⟧|", "take no room on a page"},
		{"no-break space outside", "a\u00a0", "a|⟦U+00A0⟧|", "the same"},
		{"no-break space inside", "10\u00a0€", "10\u00a0€", "takes room"},
		{"spaces alone", " \u2003", "|⟦U+0020⟧||⟦U+2003⟧|", "not nothing"},
		{"tab outside", "\ta", "|⟦U+0009⟧|a", "a control character"},
		{"replacement character", "\ufffd", "\ufffd", "text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, approvalweb.Marked(c.in), c.why)
		})
	}
	require.Equal(t, `  "a": "|⟦U+202E⟧|"`, approvalweb.MarkedData("  \"a\": \"\u202e\""), "data is indented")
}

func FuzzMarks(f *testing.F) {
	for _, s := range []string{"a\u202eb", "⟦\u202e⟧", "\xe2\x9f", " \n\u2003", "👩\u200d💻\u200d", "1\ufe0f\u20e3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shown := strings.NewReplacer("|", "", "/", "").Replace(approvalweb.MarkedData(text))
		want := strings.NewReplacer("|", "", "/", "").Replace(redact.Visible(text))
		require.Equal(t, want, shown, "marks add nothing and lose nothing")
		require.True(t, utf8.ValidString(approvalweb.Marked(text)))
	})
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0:00", 1: "0:01", time.Second: "0:01", 59 * time.Second: "0:59", 12*time.Minute + 41*time.Second: "12:41", time.Hour: "1 h 00 min",
		3*time.Hour + 5*time.Minute: "3 h 05 min", 24 * time.Hour: "1 day 0 h", 52 * time.Hour: "2 days 4 h",
	} {
		require.Equal(t, want, approvalweb.Clock(d))
	}
	for d, want := range map[time.Duration]string{
		0: "just now", 59 * time.Second: "just now", time.Minute: "1 minute ago", 2 * time.Minute: "2 minutes ago", 90 * time.Minute: "1 hour ago",
		26 * time.Hour: "1 day ago", 96 * time.Hour: "4 days ago",
	} {
		require.Equal(t, want, approvalweb.Age(d))
	}
	require.Equal(t, "16:15 UTC", approvalweb.At(epoch, epoch.Add(time.Hour)))
	require.Equal(t, "9 March 2026, 16:15 UTC", approvalweb.At(epoch, epoch.Add(8*time.Hour)), "another day")
	require.Equal(t, "9 March 2026, 16:15 UTC", approvalweb.At(epoch, epoch.AddDate(1, 0, 0)), "another year")
	east := time.FixedZone("east", 9*3600)
	require.Equal(t, "16:15 UTC", approvalweb.At(epoch.In(east), epoch.In(east)), "one zone for everybody")
}

func TestToolWords(t *testing.T) {
	t.Parallel()
	for wire, want := range map[string]string{
		"commit_address_change_v2": "address change", "commit_refund_v12": "refund", "commit_v_v1": "v", "other": "other", "commit_x_vy": "x vy",
	} {
		require.Equal(t, want, approvalweb.ToolWords(wire))
	}
}

func TestParagraphs(t *testing.T) {
	t.Parallel()
	require.Empty(t, approvalweb.Paragraphs(" \r\n "))
	require.Equal(t, []string{"One.", "Two."}, approvalweb.Paragraphs("One.\r\n\r\n  \nTwo.\n"))
	long := approvalweb.Paragraphs(strings.Repeat("ä", 5000))
	require.Equal(t, []string{strings.Repeat("ä", 2000) + "…"}, long, "bounded in characters")
	require.LessOrEqual(t, len(approvalweb.Paragraphs(strings.Repeat("a\n", 900))), 40, "bounded in lines")
}

func TestEveryProblemHasWords(t *testing.T) {
	t.Parallel()
	all := approvalweb.Problems()
	require.Len(t, all, approvalweb.ProblemCount, "no two have one heading")
	for heading, rest := range all {
		require.NotEmpty(t, heading)
		require.NotEmpty(t, rest[0], heading)
		require.NotEqual(t, "0s", rest[2], "%s has a status", heading)
	}
}
