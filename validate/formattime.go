package validate

import (
	"bytes"
	"strings"
)

// number reads n decimal digits at the beginning of s.
func number(s []byte, n int) (int, bool) {
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
func isDate(s []byte) bool {
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
func isDateTime(s []byte) bool {
	return len(s) > 11 && isDate(s[:10]) && (s[10] == 'T' || s[10] == 't') && isTime(s[11:])
}

// isTime is full-time of RFC 3339 section 5.6: the zone is part of it.
func isTime(s []byte) bool {
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
func zone(s []byte) (int, bool) {
	if len(s) == 1 && s[0]|0x20 == 'z' {
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
func isDuration(s []byte) bool {
	if len(s) < 3 || s[0] != 'P' {
		return false
	}
	s = s[1:]
	if last := len(s) - 1; s[last] == 'W' {
		return allDigits(s[:last])
	}
	date, clock, timed := bytes.Cut(s, []byte{'T'})
	if timed && !parts(clock, "HMS") {
		return false
	}
	return len(date) == 0 && timed || parts(date, "YMD")
}

// parts reports whether s is numbers with consecutive units out of the given ones.
func parts(s []byte, units string) bool {
	last := -1
	for len(s) > 0 {
		n := 0
		for n < len(s) && digit(s[n]) {
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

func allDigits(s []byte) bool {
	for _, c := range s {
		if !digit(c) {
			return false
		}
	}
	return len(s) > 0
}

// momentLength is the length of the longest date-time that time.Time holds.
const momentLength = len("2006-01-02T15:04:05.999999999+07:00")

// goTimeReads reports whether time.Time holds a text that is a date-time: it knows no leap second, no lower-case letters
// and nothing below the nanosecond.
func goTimeReads(s []byte) bool {
	digits := 0
	if s[19] == '.' {
		for digits < len(s)-20 && digit(s[20+digits]) {
			digits++
		}
	}
	return s[10] == 'T' && s[len(s)-1] != 'z' && !(s[17] == '6' && s[18] == '0') && digits <= 9
}
