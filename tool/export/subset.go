package export

// subset is the part of JSON Schema that a provider says it takes.
type subset struct {
	strict     bool            // it has a strict mode, which takes closed and whole schemas alone
	all        bool            // strict mode has no optional members: they become required and nullable
	recursion  bool            // a type may contain itself
	constant   bool            // const; otherwise an enum of one value
	tuples     bool            // prefixItems
	oneOf      bool            // otherwise anyOf
	open       bool            // objects with members of any name, and schemas without a type
	scalarEnum bool            // enum of booleans and null
	ordering   bool            // propertyOrdering says the order of the members
	keywords   map[string]bool // those that bound a value
	formats    map[string]bool
	minItems   int // the largest; zero: any
	pattern    func(pattern string) bool
	within     func(schema any, spent *budget) string // why a schema does not fit into strict mode; empty: it does
}

func words(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// budget is what the strict tools of a request have used up together.
type budget struct{ tools, optional, unions int }
