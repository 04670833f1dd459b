package validate

import (
	"net/netip"
	"net/url"
	"strings"
)

// format is one that is asserted. Others are refused when a schema is made, so that no schema promises what nobody checks.
type format struct {
	name  string
	match func(string) bool
}

// formatNamed returns an asserted format (JSON Schema validation 7.3), false for any other.
func formatNamed(name string) (*format, bool) {
	match, ok := map[string]func(string) bool{
		"date": isDate, "date-time": isDateTime, "time": isTime, "duration": isDuration, "email": isEmail,
		"hostname": isHostname, "ipv4": isIPv4, "ipv6": isIPv6, "uri": isURI, "uuid": isUUID,
	}[name]
	if !ok {
		return nil, false
	}
	return &format{name: name, match: match}, true
}

// bounded reports whether the format itself bounds the length of a text, but for the digits of a second's fraction.
func (f *format) bounded() bool {
	switch f.name {
	case "uri", "duration":
		return false
	}
	return true
}

// number reads n decimal digits at the beginning of s.
func number(s string, n int) (int, bool) {
	if len(s) < n {
		return 0, false
	}
	v := 0
	for i := range n {
		c := s[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return v, true
}

// isDate is full-date of RFC 3339 section 5.6.
func isDate(s string) bool {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	y, ok1 := number(s, 4)
	m, ok2 := number(s[5:], 2)
	d, ok3 := number(s[8:], 2)
	return ok1 && ok2 && ok3 && m >= 1 && m <= 12 && d >= 1 && d <= daysIn(y, m)
}

func daysIn(y, m int) int {
	switch m {
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// isDateTime is date-time of RFC 3339 section 5.6; a leap second only where one can be, at 23:59:60 UTC.
func isDateTime(s string) bool {
	return len(s) > 11 && isDate(s[:10]) && (s[10] == 'T' || s[10] == 't') && isTime(s[11:])
}

// isTime is full-time of RFC 3339 section 5.6: the zone is part of it.
func isTime(s string) bool {
	if len(s) < 9 || s[2] != ':' || s[5] != ':' {
		return false
	}
	h, ok1 := number(s, 2)
	m, ok2 := number(s[3:], 2)
	sec, ok3 := number(s[6:], 2)
	if !ok1 || !ok2 || !ok3 || h > 23 || m > 59 || sec > 60 {
		return false
	}
	rest := s[8:]
	if rest[0] == '.' {
		n := 1
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n == 1 {
			return false
		}
		rest = rest[n:]
	}
	offset, ok := zone(rest)
	return ok && (sec < 60 || ((h*60+m-offset)%1440+1440)%1440 == 1439)
}

// zone returns the offset from UTC in minutes.
func zone(s string) (int, bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != 6 || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return 0, false
	}
	h, ok1 := number(s[1:], 2)
	m, ok2 := number(s[4:], 2)
	if !ok1 || !ok2 || h > 23 || m > 59 {
		return 0, false
	}
	if s[0] == '-' {
		return -(h*60 + m), true
	}
	return h*60 + m, true
}

// isDuration is duration of RFC 3339 appendix A: P1Y2M3DT4H5M6S with at least one part and no gap, or weeks alone.
func isDuration(s string) bool {
	if len(s) < 3 || s[0] != 'P' {
		return false
	}
	if weeks, ok := strings.CutSuffix(s[1:], "W"); ok {
		return allDigits(weeks)
	}
	date, clock, timed := strings.Cut(s[1:], "T")
	if timed && !parts(clock, "HMS") {
		return false
	}
	return date == "" && timed || parts(date, "YMD")
}

// parts reports whether s is numbers with consecutive units out of the given ones.
func parts(s, units string) bool {
	last := -1
	for s != "" {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 0 || n == len(s) {
			return false
		}
		unit := strings.IndexByte(units, s[n])
		if unit < 0 || unit <= last || last >= 0 && unit != last+1 {
			return false
		}
		last, s = unit, s[n+1:]
	}
	return last >= 0
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// isHostname is a host name of RFC 1123 section 2.1.
func isHostname(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isLabel(label) {
			return false
		}
	}
	return true
}

func isLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	if len(s) >= 4 && s[2:4] == "--" && !strings.EqualFold(s[:2], "xn") {
		return false // reserved, RFC 5890 section 2.3.1
	}
	for i := range len(s) {
		if c := s[i]; c != '-' && !alphanumeric(c) {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// isEmail is Mailbox of RFC 5321 section 4.1.2 with a dot-atom before the @ and a host name after it: no quoted local
// part and no address literal, which no business system sends mail to.
func isEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > 64 || len(s) > 254 || !isHostname(s[at+1:]) {
		return false
	}
	for atom := range strings.SplitSeq(s[:at], ".") {
		if atom == "" {
			return false
		}
		for i := range len(atom) {
			if c := atom[i]; !alphanumeric(c) && strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) < 0 {
				return false
			}
		}
	}
	return true
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

// isIPv6 is an address of RFC 4291 section 2.2, without a zone.
func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

// isURI is URI of RFC 3986: a scheme, and only its characters.
func isURI(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			return false
		}
	}
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && !strings.ContainsAny(strings.TrimPrefix(u.EscapedPath(), "["), "[]") && strings.Count(s, "#") <= 1
}

// isUUID is the text form of RFC 9562 section 4: hexadecimal digits of either case, no braces.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch i {
		case 8, 13, 18, 23:
			if s[i] != '-' {
				return false
			}
		default:
			if !hexDigit(s[i]) {
				return false
			}
		}
	}
	return true
}
