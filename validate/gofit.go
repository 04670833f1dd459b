package validate

import (
	"bytes"
	"math"
	"math/big"
	"reflect"
	"strconv"
)

// fits reports whether a Go number of the kind can hold the number as it is written: encoding/json reads 20.0 and 1e1
// into no integer. The kind is zero where no Go type stands behind the schema.
func fits(k reflect.Kind, raw []byte) bool {
	switch k {
	case reflect.Invalid:
		return true
	case reflect.Float32:
		return held(raw, 32, 1<<24, 0x1p-126)
	case reflect.Float64:
		return held(raw, 64, 1<<53, 0x1p-1022)
	default:
		return !bytes.ContainsAny(raw, ".eE") && (raw[0] != '-' || !unsigned(k) || len(raw) > 2 || raw[1] != '0')
	}
}

func unsigned(k reflect.Kind) bool { return k >= reflect.Uint && k <= reflect.Uintptr }

// held reports whether a float of so many bits holds the number. Decimal fractions are rounded to the nearest float, as
// every program does. But beyond the whole numbers that the float has one by one, and below the least that it has with all
// its digits, only what the float is, or is written as, is taken: 9007199254740993 would become its neighbour, 1e-400
// nothing.
func held(raw []byte, bits int, whole, least float64) bool {
	f, err := strconv.ParseFloat(string(raw), bits)
	if err != nil {
		return false
	}
	if a := math.Abs(f); a < whole && a >= least {
		return true
	}
	d := parseDecimal(raw)
	return d.compare(parseDecimal(strconv.AppendFloat(nil, f, 'e', -1, bits))) == 0 || d.exactly(f)
}

// exactly reports whether d is a whole number and f holds every digit of it. More zeros at its end than maxZeros leave a
// power of five that no float has room for.
func (d decimal) exactly(f float64) bool {
	const maxZeros = 22
	zeros := d.point - len(d.digits)
	if zeros < 0 || zeros > maxZeros || d.digits == "" {
		return false
	}
	n := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(zeros)), nil)
	whole, accuracy := new(big.Float).SetFloat64(math.Abs(f)).Int(nil)
	return accuracy == big.Exact && n.Mul(n, d.mantissa()).Cmp(whole) == 0
}
