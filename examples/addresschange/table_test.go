package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTableAligns(t *testing.T) {
	t.Parallel()
	tab := table{columns: []column{{"city", 0}, {"arguments", 10}, {"n", 0}}}
	tab.add("Lübeck", "0123456789abcdef", "1")
	tab.add("Zug", "", "22")
	var out bytes.Buffer
	tab.write(&out, "  ")
	require.Equal(t, ""+
		"  city    arguments   n\n"+
		"  ──────  ──────────  ──\n"+
		"  Lübeck  0123…bcdef  1\n"+
		"  Zug                 22\n", out.String())
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, why, in, want string }{
		{"json", "stands as it was sent", `{"a":"b\n"}`, `{"a":"b\n"}`},
		{"line break", "is told apart from its escape", "a\nb\tc", "a⏎b⇥c"},
		{"escape", "does not reach the terminal", "\x1b[2J", `\u{1B}[2J`},
		{"not ascii", "is named, since it may look like ascii", "“é”", `\u{201C}\u{E9}\u{201D}`},
		{"not utf-8", "is shown as bytes", "a\xff", `a\xFF`},
		{"delete", "is a control character", "\x7f", `\u{7F}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, row.want, oneLine([]byte(row.in)), row.why)
		})
	}
}
