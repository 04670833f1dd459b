package contracttest

const alnum = "Zq7kX9vWp3RtYbN4mHs8LdGf2JcQa6wEuTz5xKrPoViBnMyShDgFjClA1e0OUI"

// canaryText returns n characters of which no six in a row occur by chance; the same for the same salt.
func canaryText(n, salt int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alnum[scatter(i, 97+salt*7919)%len(alnum)]
	}
	return string(b)
}

// scatter makes of a number another that looks as if it were drawn; never negative.
func scatter(i, salt int) int {
	x := uint64(i+1)*0x9e3779b97f4a7c15 ^ uint64(salt)*0xbf58476d1ce4e5b9 //nolint:gosec // a hash may wrap
	x ^= x >> 29
	x *= 0x94d049bb133111eb
	return int(x >> 33)
}

// runesOf repeats a text up to n characters.
func runesOf(unit string, n int) string {
	rs := []rune(unit)
	out := make([]rune, n)
	for i := range out {
		out[i] = rs[i%len(rs)]
	}
	return string(out)
}
