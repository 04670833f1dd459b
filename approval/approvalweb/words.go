package approvalweb

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

// count writes a number of things: "1 record", "2 records".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %ss", groupedInt(n), one)
}

func groupedInt(n int) string {
	if n < 0 {
		return "−" + grouped(fmt.Sprint(n)[1:])
	}
	return grouped(fmt.Sprint(n))
}

// clock writes the rest of a time as the script does: "12:41", "3 h 05 min", "2 days 4 h". A begun second counts.
func clock(left time.Duration) string {
	s := int64((left + time.Second - 1) / time.Second)
	switch {
	case s < 3600:
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%d h %02d min", s/3600, s%3600/60)
	}
	return fmt.Sprintf("%s %d h", count(int(s/86400), "day"), s%86400/3600)
}

// age writes how long ago something was: "just now", "2 minutes", "3 hours", "4 days".
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return count(int(d/time.Minute), "minute") + " ago"
	case d < 24*time.Hour:
		return count(int(d/time.Hour), "hour") + " ago"
	}
	return count(int(d/(24*time.Hour)), "day") + " ago"
}

// at writes a moment: the time of day when it is of the same day as now, with its date otherwise or where now is not known.
func at(t, now time.Time) string {
	t = t.UTC()
	if now = now.UTC(); t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04 UTC")
	}
	return t.Format("2 January 2006, 15:04 UTC")
}

// when writes a moment for a list that is read later.
func when(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// rule writes what the policy asked for. Names in it are the policy's own.
func rule(r approval.Requirement, version int) string {
	var b strings.Builder
	switch r.Level {
	case approval.None:
		b.WriteString("nobody needs to agree")
	case approval.One:
		b.WriteString("one approver")
	case approval.Two:
		b.WriteString("two different approvers")
	case approval.Deny:
		b.WriteString("nobody can agree")
	}
	if r.Role != "" {
		b.WriteString(", role " + r.Role)
	}
	if r.Group != "" {
		b.WriteString(", group " + r.Group)
	}
	if r.Self {
		b.WriteString(", the requester may be one")
	}
	fmt.Fprintf(&b, " (policy version %d)", version)
	return b.String()
}

// shortDigest keeps the scheme and the key of a digest, and enough of the rest to compare by eye.
func shortDigest(digest string) string {
	i := strings.LastIndexByte(digest, ':') + 1
	if sum := digest[i:]; len(sum) > 12 {
		return digest[:i] + sum[:6] + "…" + sum[len(sum)-6:]
	}
	return digest
}

// toolWords makes words of a wire name: commit_address_change_v2 is "address change".
func toolWords(wire string) string {
	name := strings.TrimPrefix(wire, "commit_")
	if i := strings.LastIndex(name, "_v"); i > 0 && strings.Trim(name[i+2:], "0123456789") == "" {
		name = name[:i]
	}
	return strings.ReplaceAll(name, "_", " ")
}

// verb is what stands on the button that approves.
func (h *Handler) verb(p approval.Proposal) string {
	if v := h.cfg.Writes[p.Tool].Verb; v != "" {
		return v
	}
	const short = 64
	if s := oneLine(p.Summary); s != "" && len([]rune(s)) <= short {
		return "Approve: " + p.Summary
	}
	return "Approve: " + toolWords(p.Tool)
}

// final reports whether something about the proposal cannot be undone, by its own words or by its tool's class.
func (h *Handler) final(p approval.Proposal) bool {
	return len(p.Consequence.Irreversible) > 0 || h.cfg.Writes[p.Tool].Irreversible
}

// The most that is shown of what an agent wrote.
const (
	maxWords      = 2000 // characters
	maxParagraphs = 40
)

// paragraphs takes an agent's text apart at its line ends, bounded.
func paragraphs(text string) []string {
	text = cut(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), maxWords)
	if text == "" {
		return nil
	}
	lines := strings.SplitN(text, "\n", maxParagraphs)
	return slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "" })
}
