package validate

// Limits bound what a document may cost before any schema looks at it. A zero field is that of [Defaults];
// a negative one is taken as zero is. Members, Items, StringBytes, NumberDigits and Exponent bound each object,
// array, string (member names too, after unescaping) and number of the document.
type Limits struct {
	Bytes        int // of the whole document
	Depth        int // arrays and objects within one another; the outermost is one
	Members      int // of one object
	Items        int // of one array
	StringBytes  int // UTF-8 bytes of one string
	NumberDigits int // digits of one number: whole, fraction and exponent, leading zeros too
	Exponent     int // the largest absolute value of a written exponent
}

// Defaults returns the limits that stand for zero fields.
func Defaults() Limits {
	return Limits{Bytes: 64 << 10, Depth: 32, Members: 256, Items: 1024, StringBytes: 16 << 10, NumberDigits: 40, Exponent: 400}
}

func (l Limits) filled() Limits {
	d := Defaults()
	return Limits{
		Bytes: or(l.Bytes, d.Bytes), Depth: or(l.Depth, d.Depth), Members: or(l.Members, d.Members), Items: or(l.Items, d.Items),
		StringBytes: or(l.StringBytes, d.StringBytes), NumberDigits: or(l.NumberDigits, d.NumberDigits), Exponent: or(l.Exponent, d.Exponent),
	}
}

func or(n, zero int) int {
	if n <= 0 {
		return zero
	}
	return n
}
