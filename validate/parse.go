package validate

// Parse reports whether doc is one JSON text as RFC 8259 and RFC 7493 (I-JSON) have it, within the limits l.
//
// The error is an *envelope.Error and is the first of: PAYLOAD_TOO_LARGE for too many bytes, MALFORMED_JSON for
// invalid UTF-8, then whatever comes first from the left (TOO_DEEP; MALFORMED_JSON; DUPLICATE_MEMBER, compared after
// unescaping; PAYLOAD_TOO_LARGE with rule "limit" for too many members or items, too long a string or number), and
// TRAILING_DATA for anything but white space after the text. A byte order mark is not white space.
// U+0000 in strings is left to a schema's check. The document is not retained.
func Parse(doc []byte, l Limits) error {
	l = l.filled()
	if accepts(anything, doc, l) {
		return nil
	}
	if _, fault := read(doc, l); fault != nil {
		return fault
	}
	return nil
}
