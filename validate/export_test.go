package validate

// Accepts is the scan's word alone.
func (s *Schema) Accepts(doc []byte, l Limits) bool {
	return s.fast != nil && accepts(s.fast, doc, l.filled())
}

// Explains is the slower pass alone: the reference of the scan.
func (s *Schema) Explains(doc []byte, l Limits) bool {
	v, fault := read(doc, l)
	return fault == nil && len(explain(s.root, &v)) == 0
}

// ScanParses is the scan's word about the grammar and the limits.
func ScanParses(doc []byte, l Limits) bool { return accepts(anything, doc, l.filled()) }

// ReaderParses is the slower pass's.
func ReaderParses(doc []byte, l Limits) bool {
	_, fault := read(doc, l)
	return fault == nil
}

// CompileAny makes a schema without this library's own rules (closed, bounded): for the official suite, whose schemas
// are mostly open.
func CompileAny(doc []byte) (*Schema, error) {
	root, raw, err := load(doc)
	if err != nil {
		return nil, err
	}
	return finish(root, raw, options{})
}
