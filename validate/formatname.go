package validate

import (
	"bytes"
	"strings"
)

// isHostname is a host name of RFC 1123 section 2.1.
func isHostname(s []byte) bool {
	if len(s) > 253 {
		return false
	}
	start := 0
	for i, c := range s {
		if c == '.' {
			if !isLabel(s[start:i]) {
				return false
			}
			start = i + 1
		}
	}
	return isLabel(s[start:])
}

func isLabel(s []byte) bool {
	if len(s) == 0 || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	if len(s) >= 4 && s[2] == '-' && s[3] == '-' && (s[0]|0x20 != 'x' || s[1]|0x20 != 'n') {
		return false // reserved, RFC 5890 section 2.3.1
	}
	for _, c := range s {
		if c != '-' && !alphanumeric(c) {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool { return digit(c) || letter(c) }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isEmail is Mailbox of RFC 5321 section 4.1.2 with a dot-atom before the @ and a host name after it: no quoted local
// part and no address literal, which no business system sends mail to.
func isEmail(s []byte) bool {
	at := bytes.LastIndexByte(s, '@')
	if at < 1 || at > 64 || len(s) > 254 || !isHostname(s[at+1:]) {
		return false
	}
	dot := true // where an atom must begin
	for _, c := range s[:at] {
		switch {
		case c == '.':
			if dot {
				return false
			}
			dot = true
		case alphanumeric(c) || strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) >= 0:
			dot = false
		default:
			return false
		}
	}
	return !dot
}

// isIPv4 is dotted-decimal of RFC 2673 section 3.2: four numbers without leading zeros.
func isIPv4(s []byte) bool {
	for part := range 4 {
		n, v := 0, 0
		for n < len(s) && n < 4 && digit(s[n]) {
			v = v*10 + int(s[n]-'0')
			n++
		}
		if n == 0 || n > 3 || v > 255 || n > 1 && s[0] == '0' {
			return false
		}
		s = s[n:]
		if part == 3 {
			break
		}
		if len(s) == 0 || s[0] != '.' {
			return false
		}
		s = s[1:]
	}
	return len(s) == 0
}

// isIPv6 is an address of RFC 4291 section 2.2, without a zone.
func isIPv6(s []byte) bool {
	groups, gap := 0, false
	if len(s) >= 2 && s[0] == ':' && s[1] == ':' {
		gap, s = true, s[2:]
		if len(s) == 0 {
			return true
		}
	}
	for {
		n := 0
		for n < len(s) && n < 5 && hexDigit(s[n]) {
			n++
		}
		if n < len(s) && s[n] == '.' {
			groups += 2
			return isIPv4(s) && (groups == 8 && !gap || groups < 8 && gap)
		}
		if n == 0 || n > 4 {
			return false
		}
		groups++
		if s = s[n:]; len(s) == 0 {
			return groups == 8 && !gap || groups < 8 && gap
		}
		if s[0] != ':' || groups == 8 {
			return false
		}
		if s = s[1:]; len(s) > 0 && s[0] == ':' {
			if gap {
				return false
			}
			if gap, s = true, s[1:]; len(s) == 0 {
				return groups < 8
			}
		}
	}
}

// isUUID is the text form of RFC 9562 section 4: hexadecimal digits of either case, no braces.
func isUUID(s []byte) bool {
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
