package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is rows of text in aligned columns. A column is as wide as its widest cell, and no wider than its limit.
type table struct {
	columns []column
	rows    [][]string
}

type column struct {
	title string
	limit int // in characters; zero: none
}

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = clip(cells[i], t.columns[i].limit)
	}
	t.rows = append(t.rows, cells)
}

func (t *table) write(w io.Writer, indent string) {
	widths := make([]int, len(t.columns))
	titles, rules := make([]string, len(t.columns)), make([]string, len(t.columns))
	for i, c := range t.columns {
		titles[i] = c.title
		for _, row := range append([][]string{titles}, t.rows...) {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
		rules[i] = strings.Repeat("─", widths[i])
	}
	for _, row := range append([][]string{titles, rules}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		fmt.Fprintln(w, indent+strings.TrimRight(line.String(), " "))
	}
}

// clip shortens text to at most limit characters, at the expense of its middle: what goes wrong in a call often stands at
// its end.
func clip(text string, limit int) string {
	runes := []rune(text)
	if limit == 0 || len(runes) <= limit {
		return text
	}
	head := limit * 2 / 5
	return string(runes[:head]) + "…" + string(runes[len(runes)-(limit-head-1):])
}

// oneLine shows what was sent in one line: ASCII as it stands, line breaks and tabs as ⏎ and ⇥, everything else, which a
// terminal may not show or may obey, by its number.
func oneLine(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02X`, b[0])
		case r == '\n':
			out.WriteRune('⏎')
		case r == '\t':
			out.WriteRune('⇥')
		case r < ' ' || r > '~':
			fmt.Fprintf(&out, `\u{%X}`, r)
		default:
			out.WriteRune(r)
		}
		b = b[size:]
	}
	return out.String()
}
