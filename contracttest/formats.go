package contracttest

import (
	"fmt"
	"strings"
)

// formats are fixed witnesses for the formats that are asserted: on their validity every reader of RFC 3339, 5321, 1123,
// 4291, 3986 and 9562 agrees.
func formats() map[string]witness {
	return map[string]witness{
		"date": {
			[]string{"2026-03-01", "2024-02-29", "2000-02-29", "1999-12-31"},
			[]string{"2026-02-30", "2023-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-3-1", "20260301", "2026-03-01T00:00:00Z", "01-03-2026", "2026/03/01", "2026-03-01 "},
		},
		"date-time": {
			[]string{"2026-03-01T12:30:45Z", "2024-02-29T00:00:00Z", "2026-03-01T12:30:45+05:30", "2026-03-01T12:30:45.123456789Z", "2026-12-31T23:59:59-11:00"},
			[]string{"2026-02-30T12:30:45Z", "2026-13-01T12:30:45Z", "2026-03-01T12:99:00Z", "2026-03-01T24:00:00Z", "2026-03-01T12:30:61Z", "2026-03-01T12:30:45", "2026-03-01 12:30:45Z", "2026-03-01", "2026-03-01T12:30Z", "2026-03-01T12:30:45.Z", "2026-03-01T12:30:45+25:00", "20260301T123045Z", "2026-03-01T12:30:45Z "},
		},
		"time": {
			[]string{"12:30:45Z", "00:00:00+02:00", "23:59:59.5Z"},
			[]string{"12:99:00Z", "24:00:00Z", "12:30:45", "12:30Z", "1:2:3Z", "noon"},
		},
		"duration": {
			[]string{"P1D", "PT1H30M", "P2W", "P1Y2M3DT4H5M6S"},
			[]string{"P", "1D", "PT", "P1S", "P-1D", "P1D2H", "one day"},
		},
		"email": {
			[]string{"zq7.canary@example.com", "a@example.org", "first+tag@sub.example.com"},
			[]string{"example.com", "zq7canary@", "a b@example.com", ".a@example.com", "a..b@example.com", "a@exa mple.com", "a@-example.com"},
		},
		"hostname": {
			[]string{"zq7.example.com", "localhost", "a-1.example.org"},
			[]string{"-zq7.example.com", "zq7-.example.com", "zq7..example.com", "zq7_x.example.com", "zq7.exam ple.com", ""},
		},
		"ipv4": {
			[]string{"192.0.2.17", "203.0.113.255", "0.0.0.0"},
			[]string{"192.0.2.256", "192.0.2", "192.0.2.1.1", "192.0.02.1", "192.0.2.x", "2001:db8::1"},
		},
		"ipv6": {
			[]string{"2001:db8::17", "::1", "2001:db8:0:1:2:3:4:5", "::ffff:192.0.2.1"},
			[]string{"2001:db8::1::2", "2001:db8", "2001:db8::zz", "2001:db8:0:1:2:3:4:5:6", "192.0.2.1", "12345::"},
		},
		"uri": {
			[]string{"https://example.com/zq7?a=b#c", "urn:example:zq7canary", "mailto:zq7@example.com"},
			[]string{"/zq7/relative", "zq7 canary", "https://exa mple.com/", "://example.com", "https://example.com/%zz", ""},
		},
		"uuid": {
			[]string{"0190c7b2-7d5a-7cc1-8f3e-2b6a1d9e4f70", "2EB8AA08-AA98-11EA-B4AA-73B441D16380"},
			[]string{"0190c7b2-7d5a-7cc1-8f3e-2b6a1d9e4f7g", "{0190c7b2-7d5a-7cc1-8f3e-2b6a1d9e4f70}", "0190c7b27d5a7cc18f3e2b6a1d9e4f70", "0190c7b2-7d5a-7cc1-8f3e-2b6a1d9e4f7", "0190c7b2-7d5a7cc1-8f3e-2b6a-1d9e4f70", "urn:uuid:0190c7b2-7d5a-7cc1-8f3e-2b6a1d9e4f70"},
		},
	}
}

// numbered returns a text of the format that no other number has, as far as the format goes.
func numbered(format string, n int) string {
	switch format {
	case "date":
		return fmt.Sprintf("20%02d-%02d-%02d", 10+n/336%80, 1+n/28%12, 1+n%28)
	case "date-time":
		return numbered("date", n) + "T12:30:45Z"
	case "time":
		return fmt.Sprintf("%02d:%02d:45Z", n/60%24, n%60)
	case "duration":
		return fmt.Sprintf("P%dD", n+1)
	case "email":
		return fmt.Sprintf("zq7.%d@example.com", n)
	case "hostname":
		return fmt.Sprintf("zq7-%d.example.com", n)
	case "ipv4":
		return fmt.Sprintf("192.0.%d.%d", n/200%200, 1+n%200)
	case "ipv6":
		return fmt.Sprintf("2001:db8::%x", n+1)
	case "uri":
		return fmt.Sprintf("https://example.com/zq7/%d", n)
	case "uuid":
		return fmt.Sprintf("0190c7b2-7d5a-7cc1-8f3e-%012x", n+1)
	}
	return ""
}

// sized returns a text of the format with exactly n characters, empty where the format goes no such length.
func sized(format string, n int) string {
	const site = "https://example.com/"
	switch {
	case format == "uri" && n > len(site):
		return site + canaryText(n-len(site), 31)
	case format == "duration" && n > 2 && n < 18:
		return "P" + strings.Repeat("1", n-2) + "D"
	case format == "hostname" && n >= 1 && n <= 253:
		return host(n)
	case format == "email" && n >= 3 && n <= 254:
		return "a@" + host(n-2)
	}
	return ""
}

// host makes a host name of n characters, of labels that are not too long.
func host(n int) string {
	b := []byte(strings.Repeat("a", n))
	for i := 40; i < n-1; i += 41 {
		b[i] = '.'
	}
	return string(b)
}
