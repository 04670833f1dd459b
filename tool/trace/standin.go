package trace

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/redact"
)

// standIns replaces values by others of the same form: each letter by a letter of its case, each digit by a digit, another
// sign of the text by an x, punctuation and spaces as they are. The same value has the same stand-in, and another value another one where its form has enough of them.
type standIns struct {
	key    []byte
	tries  map[string]int    // of the values that are hidden: which way of replacing is used
	given  map[string]string // stand-ins by value, since begin
	taken  map[string]bool   // stand-ins
	public map[string]bool   // the texts of schemas that anybody may read
	// subjects have stand-ins of their own: who is whom decides about approvals.
	subjects map[string]string
}

// distinct gives each subject a stand-in that no other has, and that is nobody else's name.
func (s *standIns) distinct(subjects []string) {
	s.subjects = map[string]string{}
	taken := map[string]bool{}
	for _, subject := range subjects {
		taken[subject] = true
	}
	for _, subject := range subjects {
		of := s.replaced(subject, subject, 26, true)
		for n := 0; taken[of] || !s.conceals(subject, of); n++ {
			salted := subject + "\x00" + strconv.Itoa(n)
			if of = s.replaced(salted, subject, 26, true); n > 8 { // too short, or of marks alone
				of = s.replaced(salted, "subject_11111111", 26, false)
			}
		}
		s.subjects[subject], taken[of] = of, true
	}
}

// The ways, in the order in which they are tried until what holds the stand-in passes its schema.
const (
	wholeText  = iota // letters and digits
	afterMark         // behind the first of _ - : / . @ alone: a prefix belongs to the form
	digitsOnly        // letters belong to the form
	ofForm            // a time becomes another time, an address another address; else letters stay among a to f
	ways
)

func (s *standIns) hide(value string) {
	if value != "" {
		s.tries[value] += 0
	}
}

// elsewhere reports whether a value that is hidden somewhere is also replaced where it is not: a short one says nothing by
// itself, and is many things.
func (s *standIns) elsewhere(value string) bool {
	_, ok := s.tries[value]
	return ok && utf8.RuneCountInString(value) >= redact.FragmentRunes
}

// next makes the value's stand-in in the next way; false where there is none.
func (s *standIns) next(value string) bool {
	if s.tries[value] == ways-1 {
		return false
	}
	s.tries[value]++
	return true
}

// anyhow is a stand-in where no schema says what may stand: one that gives nothing away.
func (s *standIns) anyhow(value string) string {
	if of := s.of(value); s.conceals(value, of) {
		return of
	}
	return s.replaced(value, value, 26, true)
}

// begin forgets the stand-ins that were given: ways have changed. Those of subjects stay.
func (s *standIns) begin() {
	s.given, s.taken = map[string]string{}, map[string]bool{}
	for subject, of := range s.subjects {
		if s.taken[of] = true; s.tries[subject] == wholeText {
			s.given[subject] = of
		}
	}
}

// salts is how often another stand-in is looked for where it is another value's.
const salts = 64

func (s *standIns) of(value string) string {
	if of, ok := s.given[value]; ok {
		return of
	}
	of := s.made(value, value)
	for n := 0; n < salts && s.somebodyElses(of); n++ {
		of = s.made(value, value+"\x00"+strconv.Itoa(n))
	}
	s.given[value], s.taken[of] = of, true
	return of
}

func (s *standIns) somebodyElses(standIn string) bool {
	_, value := s.tries[standIn]
	return value || s.taken[standIn]
}

// made is a value's stand-in in its present way, as the seed decides.
func (s *standIns) made(value, seed string) string {
	switch s.tries[value] {
	case afterMark:
		i := behindMark(value)
		return value[:i] + s.replaced(seed, value[i:], 26, true)
	case digitsOnly:
		return s.replaced(seed, value, 26, false)
	case ofForm:
		return s.ofForm(value, seed)
	}
	return s.replaced(seed, value, 26, true)
}

// behindMark is where a value goes on behind its first mark; 0 where it has none.
func behindMark(value string) int { return strings.IndexAny(value, "_-:/.@") + 1 }

// published reports whether a schema says itself that values begin so.
func (s *standIns) published(prefix string) bool {
	for schema := range s.public {
		if strings.Contains(schema, `"pattern":"^`+prefix) {
			return true
		}
	}
	return false
}

// conceals reports whether a stand-in in the value's present way leaves out more of it than it keeps: at least half of its
// letters and digits, without a prefix that a schema publishes.
func (s *standIns) conceals(value, standIn string) bool {
	switch i := behindMark(value); s.tries[value] {
	case ofForm:
		return value != standIn
	case afterMark:
		if strings.HasPrefix(standIn, value[:i]) && s.published(value[:i]) {
			value, standIn = value[i:], standIn[i:]
		}
	}
	gone, signs := 0, 0
	is := []rune(standIn)
	if len(is) != utf8.RuneCountInString(value) {
		return true // a subject's that has another form
	}
	for i, r := range []rune(value) {
		if says(r) {
			signs++
			if is[i] != r {
				gone++
			}
		}
	}
	return 2*gone >= signs
}

func (s *standIns) ofForm(value, seed string) string {
	some := s.stream(seed)
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly, "15:04:05Z07:00"} {
		if _, err := time.Parse(layout, value); err == nil {
			return time.Unix(int64(some(1<<31)), 0).UTC().Format(layout)
		}
	}
	if a, err := netip.ParseAddr(value); err == nil {
		if a.Is4() {
			return netip.AddrFrom4([4]byte{192, 0, 2, byte(some(256))}).String() //nolint:gosec // below 256; RFC 5737
		}
		return netip.AddrFrom16([16]byte{0: 0x20, 1: 0x01, 2: 0x0d, 3: 0xb8, 15: byte(some(256))}).String() //nolint:gosec // below 256; RFC 3849
	}
	return s.replaced(seed, value, 6, true)
}

// replaced replaces the digits of part, and its letters by one of the first of the alphabet, as the seed decides.
func (s *standIns) replaced(seed, part string, alphabet uint32, letters bool) string {
	next := s.stream(seed)
	var b strings.Builder
	first := true // a number does not begin with 0
	for _, r := range part {
		switch {
		case r >= '1' && r <= '9' && first:
			b.WriteByte('1' + another(r-'1', 9, next))
		case r >= '0' && r <= '9':
			b.WriteByte('0' + another(r-'0', 10, next))
		case unicode.IsNumber(r):
			b.WriteByte('0' + another(r-'0', 10, next))
		case !letters && unicode.IsLetter(r) || !says(r):
			b.WriteRune(r)
		case !unicode.IsLetter(r):
			b.WriteByte('x')
		case unicode.IsUpper(r):
			b.WriteByte('A' + another(r-'A', alphabet, next))
		default:
			b.WriteByte('a' + another(r-'a', alphabet, next))
		}
		first = r < '0' || r > '9'
	}
	return b.String()
}

// says reports whether a sign tells something: a letter, a number, a symbol or a mark of any script, not what stands
// between words.
func says(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || r >= utf8.RuneSelf && !unicode.IsPunct(r) && !unicode.IsSpace(r)
}

// another returns a number below the bound that is not n.
func another(n rune, below uint32, next func(uint32) uint32) byte {
	return byte((uint32(n) + 1 + next(below-1)) % below) //nolint:gosec // a letter's code point; the result is below 27
}

// stream returns a source of numbers below a bound that the key and the value determine.
func (s *standIns) stream(value string) func(below uint32) uint32 {
	mac := hmac.New(sha256.New, s.key)
	_, _ = mac.Write([]byte(value)) // never fails (hash.Hash)
	seed := mac.Sum(nil)
	var block []byte
	n := uint64(0)
	return func(below uint32) uint32 {
		if len(block) < 4 {
			sum := sha256.Sum256(binary.BigEndian.AppendUint64(seed, n))
			block, n = sum[:], n+1
		}
		v := binary.BigEndian.Uint32(block)
		block = block[4:]
		return v % below
	}
}

// number is a stand-in for a number, in the given way.
func (s *standIns) number(text string, way int) string {
	switch way {
	case wholeText:
		return s.replaced(text, text, 26, false)
	case afterMark:
		return "1"
	}
	return "0"
}
