package validate

import (
	"bytes"
	"strings"
)

// isURI is URI of RFC 3986 section 3: a scheme is part of it, and every character is one that may stand where it does.
func isURI(s []byte) bool {
	scheme, rest, ok := bytes.Cut(s, []byte{':'})
	if !ok || len(scheme) == 0 || !letter(scheme[0]) {
		return false
	}
	for _, c := range scheme {
		if !alphanumeric(c) && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	if rest, ok = beforeMark(rest, '#'); !ok {
		return false
	}
	if rest, ok = beforeMark(rest, '?'); !ok {
		return false
	}
	if len(rest) >= 2 && rest[0] == '/' && rest[1] == '/' {
		rest = rest[2:]
		end := bytes.IndexByte(rest, '/')
		if end < 0 {
			end = len(rest)
		}
		if !isAuthority(rest[:end]) {
			return false
		}
		rest = rest[end:]
	}
	return uriText(rest, ":@/")
}

// beforeMark checks what follows the first mark, a query or a fragment, and returns what stands before it.
func beforeMark(s []byte, mark byte) ([]byte, bool) {
	i := bytes.IndexByte(s, mark)
	if i < 0 {
		return s, true
	}
	return s[:i], uriText(s[i+1:], ":@/?")
}

// isAuthority is authority of RFC 3986 section 3.2.
func isAuthority(s []byte) bool {
	if i := bytes.LastIndexByte(s, '@'); i >= 0 {
		if !uriText(s[:i], ":") {
			return false
		}
		s = s[i+1:]
	}
	if len(s) > 0 && s[0] == '[' {
		end := bytes.IndexByte(s, ']')
		return end > 0 && isLiteral(s[1:end]) && isPort(s[end+1:])
	}
	if i := bytes.LastIndexByte(s, ':'); i >= 0 {
		if !isPort(s[i:]) {
			return false
		}
		s = s[:i]
	}
	return uriText(s, "")
}

func isPort(s []byte) bool { return len(s) == 0 || s[0] == ':' && (len(s) == 1 || allDigits(s[1:])) }

// isLiteral is what stands between the brackets of an IP-literal.
func isLiteral(s []byte) bool {
	if len(s) == 0 || s[0]|0x20 != 'v' {
		return isIPv6(s)
	}
	version, rest, ok := bytes.Cut(s[1:], []byte{'.'})
	if !ok || len(version) == 0 || len(rest) == 0 || bytes.IndexByte(rest, '%') >= 0 {
		return false
	}
	for _, c := range version {
		if !hexDigit(c) {
			return false
		}
	}
	return uriText(rest, ":")
}

// uriText reports whether s is unreserved characters, sub-delims, percent-encoded bytes and the more that may stand there.
func uriText(s []byte, more string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case alphanumeric(c), strings.IndexByte("-._~!$&'()*+,;=", c) >= 0, strings.IndexByte(more, c) >= 0:
		case c == '%':
			if i+2 >= len(s) || !hexDigit(s[i+1]) || !hexDigit(s[i+2]) {
				return false
			}
			i += 2
		default:
			return false
		}
	}
	return true
}
