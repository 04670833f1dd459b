package validate_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

func formatSchema(tb testing.TB, format string) *validate.Schema {
	tb.Helper()
	s, err := validate.Compile([]byte(`{"type":"string","maxLength":400,"format":"` + format + `"}`))
	require.NoError(tb, err)
	return s
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format, text string
		valid        bool
		why          string
	}{
		{"date", "2024-02-29", true, "leap day"},
		{"date", "2000-02-29", true, "a century that leaps"},
		{"date", "1900-02-29", false, "a century that does not"},
		{"date", "2023-02-29", false, "no leap year"},
		{"date", "2026-02-30", false, "30 February"},
		{"date", "2026-04-31", false, "31 April"},
		{"date", "2026-13-01", false, "month 13"},
		{"date", "2026-00-01", false, "month 0"},
		{"date", "2026-01-00", false, "day 0"},
		{"date", "2026-1-1", false, "one digit"},
		{"date", "26-01-01", false, "two digits of the year"},
		{"date", "2026-01-01T00:00:00Z", false, "a timestamp is no date"},
		{"date", "2026-01-01\n", false, "something after"},
		{"date", "２０２６-01-01", false, "digits of another script"},
		{"date-time", "2024-02-29T12:00:00Z", true, "plain"},
		{"date-time", "2024-02-29t12:00:00z", true, "lower case is allowed by RFC 3339"},
		{"date-time", "2024-02-29T12:00:00.123456789123+05:30", true, "fraction and offset"},
		{"date-time", "2024-02-29 12:00:00Z", false, "a space for the T"},
		{"date-time", "2024-02-29T12:00:00", false, "no zone"},
		{"date-time", "2024-02-29T12:00:00+0530", false, "offset without colon"},
		{"date-time", "2024-02-29T12:00:00+24:00", false, "offset of a day"},
		{"date-time", "2024-02-29T12:00:00+05:60", false, "offset minutes"},
		{"date-time", "2024-02-29T24:00:00Z", false, "hour 24"},
		{"date-time", "2024-02-29T12:60:00Z", false, "minute 60"},
		{"date-time", "2024-02-29T12:00:00.Z", false, "empty fraction"},
		{"date-time", "2024-02-29T12:00:00,5Z", false, "comma for the point"},
		{"date-time", "2016-12-31T23:59:60Z", true, "leap second"},
		{"date-time", "2016-12-31T15:59:60-08:00", true, "leap second elsewhere"},
		{"date-time", "2016-12-31T22:59:60Z", false, "no leap second then"},
		{"date-time", "2016-12-31T23:59:61Z", false, "second 61"},
		{"time", "12:00:00Z", true, "plain"},
		{"time", "23:59:60+00:00", true, "leap second"},
		{"time", "12:00:00", false, "no zone"},
		{"time", "12:99:00Z", false, "minute 99"},
		{"time", "12:00Z", false, "no seconds"},
		{"duration", "P1Y2M3DT4H5M6S", true, "everything"},
		{"duration", "PT5M", true, "minutes"},
		{"duration", "P2W", true, "weeks"},
		{"duration", "P", false, "nothing"},
		{"duration", "PT", false, "nothing after the T"},
		{"duration", "P1D2H", false, "hours without T"},
		{"duration", "P1Y2D", false, "years and days without months (RFC 3339 appendix A)"},
		{"duration", "P2M1Y", false, "out of order"},
		{"duration", "P1W2D", false, "weeks stand alone"},
		{"duration", "P0.5D", false, "fraction"},
		{"duration", "-P1D", false, "sign"},
		{"email", "a@example.com", true, "plain"},
		{"email", "a.b+c@example.co.uk", true, "dots and plus"},
		{"email", "a@b", true, "a host without a dot"},
		{"email", "@example.com", false, "no local part"},
		{"email", "a@", false, "no host"},
		{"email", "a..b@example.com", false, "two dots"},
		{"email", ".a@example.com", false, "dot first"},
		{"email", "a b@example.com", false, "space"},
		{"email", "a@ex ample.com", false, "space in the host"},
		{"email", "a@example.com\r\nBcc: x@example.com", false, "header injection"},
		{"hostname", "example.com", true, "plain"},
		{"hostname", "xn--nxasmq6b.example", true, "IDNA"},
		{"hostname", "a", true, "one letter"},
		{"hostname", "-a.example", false, "hyphen first"},
		{"hostname", "a-.example", false, "hyphen last"},
		{"hostname", "a..b", false, "empty label"},
		{"hostname", "a_b.example", false, "underscore"},
		{"hostname", "ab--c.example", false, "reserved by RFC 5890"},
		{"hostname", strings.Repeat("a", 64) + ".example", false, "label of 64"},
		{"hostname", "", false, "empty"},
		{"ipv4", "192.0.2.1", true, "plain"},
		{"ipv4", "192.0.2.256", false, "256"},
		{"ipv4", "192.0.2", false, "three parts"},
		{"ipv4", "192.0.2.01", false, "leading zero"},
		{"ipv4", "192.0.2.1.", false, "dot after"},
		{"ipv6", "2001:db8::1", true, "plain"},
		{"ipv6", "::", true, "unspecified"},
		{"ipv6", "::ffff:192.0.2.1", true, "mapped"},
		{"ipv6", "1:2:3:4:5:6:7:8", true, "in full"},
		{"ipv6", "1:2:3:4:5:6:7", false, "seven groups"},
		{"ipv6", "1::2::3", false, "two gaps"},
		{"ipv6", "fe80::1%eth0", false, "zone"},
		{"ipv6", "12345::", false, "five digits"},
		{"uri", "https://user@example.com:8080/a/b?c=d#e", true, "everything"},
		{"uri", "urn:isbn:0451450523", true, "urn"},
		{"uri", "http://[2001:db8::1]/", true, "IPv6"},
		{"uri", "//example.com/a", false, "no scheme"},
		{"uri", "/a/b", false, "a path"},
		{"uri", "http://example.com/a b", false, "space"},
		{"uri", "http://example.com/%zz", false, "bad escape"},
		{"uri", "http://example.com/ä", false, "not ASCII: an IRI"},
		{"uri", "http://[::1/", false, "open bracket"},
		{"uri", "http://example.com:80a/", false, "port"},
		{"uri", "http://example.com/#a#b", false, "two fragments"},
		{"uri", "1http://example.com", false, "digit first"},
		{"uuid", "123e4567-e89b-12d3-a456-426614174000", true, "plain"},
		{"uuid", "123E4567-E89B-12D3-A456-426614174000", true, "upper case"},
		{"uuid", "{123e4567-e89b-12d3-a456-426614174000}", false, "braces"},
		{"uuid", "123e4567e89b12d3a456426614174000", false, "no hyphens"},
		{"uuid", "123g4567-e89b-12d3-a456-426614174000", false, "g"},
		{"uuid", "urn:uuid:123e4567-e89b-12d3-a456-426614174000", false, "urn"},
	} {
		s := formatSchema(t, c.format)
		doc := quote(t, c.text)
		err := s.Check(doc, validate.Limits{})
		if c.valid {
			require.NoError(t, err, "%s %q: %s", c.format, c.text, c.why)
			require.True(t, s.Accepts(doc, validate.Limits{}), "%s %q: by the scan", c.format, c.text)
			continue
		}
		requireRule(t, err, "", "format")
	}
}

func TestUnknownFormatsAreRefused(t *testing.T) {
	t.Parallel()
	_, err := validate.Compile([]byte(`{"type":"string","maxLength":9,"format":"iri"}`))
	require.ErrorContains(t, err, "format")
	type in struct {
		Zip string `json:"zip" jsonschema:"format=zip"`
	}
	_, err = validate.For[in]()
	require.ErrorContains(t, err, "zip: format")
}

// TestTimeTakesWhatTheSchemaTakes: time.Time knows no leap second and no lower case, so a timestamp field refuses them.
func TestTimeTakesWhatTheSchemaTakes(t *testing.T) {
	t.Parallel()
	type in struct {
		At time.Time `json:"at"`
	}
	s, err := validate.For[in]()
	require.NoError(t, err)
	for _, text := range []string{"2016-12-31T23:59:60Z", "2024-02-29t12:00:00Z", "2024-02-29T12:00:00z", "2024-02-29T12:00:00.1234567890Z"} {
		_, err := s.Decode[in]([]byte(`{"at":"`+text+`"}`), validate.Limits{})
		requireRule(t, err, "at", "format")
	}
	for _, text := range []string{"0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999+23:59", "2024-02-29T12:00:00-00:00"} {
		_, err := s.Decode[in]([]byte(`{"at":"`+text+`"}`), validate.Limits{})
		require.NoError(t, err, text)
	}
}

func FuzzFormats(f *testing.F) {
	schemas := map[string]*validate.Schema{}
	for _, name := range []string{"ipv4", "ipv6", "date-time", "date"} {
		schemas[name] = formatSchema(f, name)
	}
	for _, text := range []string{"1.2.3.4", "::1", "1:2:3:4:5:6:7.8.9.10", "::ffff:1.2.3.4", "2024-02-29T12:00:00.5+01:00", "2024-02-29", "1:2:3:4:5:6:7::", "1:2:3:4:5:6::1.2.3.4"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 300 || strings.ToValidUTF8(text, "") != text || strings.ContainsRune(text, 0) {
			return
		}
		doc := quote(t, text)
		says := func(name string) bool { return schemas[name].Check(doc, validate.Limits{}) == nil }
		a, err := netip.ParseAddr(text)
		require.Equal(t, err == nil && a.Is4(), says("ipv4"))
		require.Equal(t, err == nil && a.Is6() && a.Zone() == "", says("ipv6"))
		_, err = time.Parse(time.DateOnly, text)
		require.Equal(t, err == nil, says("date"))
		if _, err := time.Parse(time.RFC3339Nano, text); says("date-time") && strings.ToUpper(text) == text && !strings.Contains(text, ":60") {
			require.NoError(t, err)
		}
	})
}
