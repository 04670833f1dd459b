package contracttest

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// rational reads a JSON number exactly; nil where its exponent would make it costly.
func rational(raw string) *big.Rat {
	if i := strings.IndexAny(raw, "eE"); i >= 0 {
		if e, err := strconv.Atoi(raw[i+1:]); err != nil || e > 1000 || e < -1000 {
			return nil
		}
	}
	r, ok := new(big.Rat).SetString(raw)
	if !ok {
		return nil
	}
	return r
}

// spell writes a number that has a finite decimal expansion, without an exponent.
func spell(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	scaled, places := new(big.Rat).Set(r), 0
	ten := big.NewRat(10, 1)
	for !scaled.IsInt() && places < 400 {
		scaled.Mul(scaled, ten)
		places++
	}
	return r.FloatString(places)
}

func ratOf(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

func isMultiple(r, of *big.Rat) bool {
	return of == nil || new(big.Rat).Quo(r, of).IsInt()
}

// ceilTo returns the smallest multiple of step that is not below r; floorTo the largest that is not above it.
func ceilTo(r, step *big.Rat) *big.Rat {
	q := new(big.Rat).Quo(r, step)
	n := new(big.Int).Div(q.Num(), q.Denom()) // rounds down, the denominator being positive
	if !q.IsInt() {
		n.Add(n, big.NewInt(1))
	}
	return new(big.Rat).Mul(new(big.Rat).SetInt(n), step)
}

func floorTo(r, step *big.Rat) *big.Rat {
	q := new(big.Rat).Quo(r, step)
	n := new(big.Int).Div(q.Num(), q.Denom())
	return new(big.Rat).Mul(new(big.Rat).SetInt(n), step)
}

// floatBeside returns the double next to r in the direction of to, as a decimal; nil where there is none.
func floatBeside(r *big.Rat, up bool) *big.Rat {
	f, _ := r.Float64()
	to := math.Inf(-1)
	if up {
		to = math.Inf(1)
	}
	next := math.Nextafter(f, to)
	if math.IsInf(next, 0) || math.Abs(next) < 1e-30 && next != 0 {
		return nil
	}
	out, ok := new(big.Rat).SetString(strconv.FormatFloat(next, 'g', -1, 64))
	if !ok || (up && out.Cmp(r) <= 0) || (!up && out.Cmp(r) >= 0) {
		return nil
	}
	return out
}
