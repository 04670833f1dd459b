package approvalweb

import (
	"slices"
	"strconv"
	"strings"
)

// The codes of ISO 4217, list one, by their number of decimal places. Codes without any (XAU, XDR, XTS, XXX and the like) are
// in none of them, as are codes that the standard does not know: their amounts are shown in what they were counted in.
const (
	noDecimals    = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
	twoDecimals   = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG"
	threeDecimals = "BHD IQD JOD KWD LYD OMR TND"
	fourDecimals  = "CLF UYW"
)

// decimals returns how many decimal places a currency has.
func decimals(code string) (int, bool) {
	for n, codes := range map[int]string{0: noDecimals, 2: twoDecimals, 3: threeDecimals, 4: fourDecimals} {
		if slices.Contains(strings.Fields(codes), code) {
			return n, true
		}
	}
	return 0, false
}

// money writes an amount in minor units for a reader: 123456 EUR is "1,234.56 EUR". Where the number of decimal places is not
// known it says what was counted instead of guessing.
func money(minor int64, currency string) string {
	digits, sign := strconv.FormatInt(minor, 10), ""
	if minor < 0 {
		digits, sign = digits[1:], "−"
	}
	places, known := decimals(currency)
	switch {
	case currency == "":
		return sign + grouped(digits) + " in the smallest unit of a currency that was not said"
	case !known:
		return sign + grouped(digits) + " in the smallest unit of " + currency
	}
	if len(digits) <= places {
		digits = strings.Repeat("0", places+1-len(digits)) + digits
	}
	whole, part := digits[:len(digits)-places], digits[len(digits)-places:]
	text := sign + grouped(whole)
	if places > 0 {
		text += "." + part
	}
	return text + " " + currency
}

// grouped puts a comma before every third digit from the right.
func grouped(digits string) string {
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
