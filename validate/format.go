package validate

// formatID is a format that is asserted (JSON Schema validation 7.3); zero is none. Others are refused when a schema is
// made, so that no schema promises what nobody checks.
type formatID uint8

const (
	noFormat formatID = iota
	dateFormat
	dateTimeFormat
	timeFormat
	durationFormat
	emailFormat
	hostnameFormat
	ipv4Format
	ipv6Format
	uriFormat
	uuidFormat
)

func (f formatID) String() string {
	switch f {
	case noFormat:
		return ""
	case dateFormat:
		return "date"
	case dateTimeFormat:
		return "date-time"
	case timeFormat:
		return "time"
	case durationFormat:
		return "duration"
	case emailFormat:
		return "email"
	case hostnameFormat:
		return "hostname"
	case ipv4Format:
		return "ipv4"
	case ipv6Format:
		return "ipv6"
	case uriFormat:
		return "uri"
	case uuidFormat:
		return "uuid"
	}
	return "invalid"
}

// formatNamed returns an asserted format, false for any other.
func formatNamed(name string) (formatID, bool) {
	for f := dateFormat; f <= uuidFormat; f++ {
		if f.String() == name {
			return f, true
		}
	}
	return noFormat, false
}

// matches reports whether text has the form. It is called for every value, and allocates nothing.
func (f formatID) matches(text []byte) bool {
	switch f {
	case noFormat:
		return true
	case dateFormat:
		return isDate(text)
	case dateTimeFormat:
		return isDateTime(text)
	case timeFormat:
		return isTime(text)
	case durationFormat:
		return isDuration(text)
	case emailFormat:
		return isEmail(text)
	case hostnameFormat:
		return isHostname(text)
	case ipv4Format:
		return isIPv4(text)
	case ipv6Format:
		return isIPv6(text)
	case uriFormat:
		return isURI(text)
	case uuidFormat:
		return isUUID(text)
	}
	return false
}

// lengths returns how many code points a text of the format has; most is unset where the format gives no bound: a second's
// fraction may have any number of digits.
func (f formatID) lengths() (least, most int) {
	switch f {
	case noFormat:
		return 0, unset
	case dateFormat:
		return 10, 10
	case dateTimeFormat:
		return len("2006-01-02T15:04:05Z"), unset
	case timeFormat:
		return len("15:04:05Z"), unset
	case durationFormat:
		return len("P1D"), unset
	case emailFormat:
		return len("a@b"), 254
	case hostnameFormat:
		return 1, 253
	case ipv4Format:
		return len("1.1.1.1"), len("255.255.255.255")
	case ipv6Format:
		return len("::"), len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255")
	case uriFormat:
		return len("a:"), unset
	case uuidFormat:
		return 36, 36
	}
	return 0, unset
}

// bounded reports whether the format itself bounds the length of a text.
func (f formatID) bounded() bool {
	_, most := f.lengths()
	return most >= 0
}
