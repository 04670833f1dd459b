package validate

// equal is equality of JSON values as JSON Schema core 4.2.2 has it: 1 and 1.0 are equal, members have no order.
func equal(a, b *value) bool {
	if a.kind != b.kind || len(a.elems) != len(b.elems) {
		return false
	}
	switch a.kind {
	case nullKind:
		return true
	case boolKind:
		return a.raw[0] == b.raw[0]
	case numberKind:
		return parseDecimal(a.raw).compare(parseDecimal(b.raw)) == 0
	case stringKind:
		return a.text == b.text
	case arrayKind:
		for i := range a.elems {
			if !equal(&a.elems[i], &b.elems[i]) {
				return false
			}
		}
		return true
	case objectKind:
		for i, name := range a.names {
			if other := b.member(name); other == nil || !equal(&a.elems[i], other) {
				return false
			}
		}
		return true
	}
	return false
}
