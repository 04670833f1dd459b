package tool

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcontract/toolcontract/validate"
)

// Catalog is a set of definitions that hold together. It is immutable and safe for concurrent use.
type Catalog struct {
	tools map[string]*callable
	names []string // sorted
	defs  []*definition
}

// NewCatalog checks the definitions and puts them together. The error joins every fault of every definition, each with
// its tool and place. A catalogue with a write also serves get_operation_v1 and cancel_operation_v1.
func NewCatalog(defs ...Definition) (*Catalog, error) {
	c := &Catalog{tools: map[string]*callable{}}
	var errs []error
	for i, d := range defs {
		if d == nil {
			errs = append(errs, fmt.Errorf("tool: definition %d is nil", i))
			continue
		}
		def, err := d.build()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, c.add(def))
	}
	if len(defs) == 0 {
		errs = append(errs, errors.New("tool: a catalogue needs a definition"))
	}
	if c.hasWrite() {
		closed := !slices.ContainsFunc(c.writes(), func(d *definition) bool { return !d.spec.ClosedWorld })
		for _, def := range operationTools() {
			def.spec.ClosedWorld = closed // they ask and stop the writes' own systems
			errs = append(errs, c.add(def))
		}
	}
	errs = append(errs, c.checkCompensations())
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.Sort(c.names)
	return c, nil
}

func (c *Catalog) add(def *definition) error {
	var errs []error
	for _, t := range def.tools {
		if _, taken := c.tools[t.wire]; taken {
			errs = append(errs, fmt.Errorf("tool %q: name: is taken by another definition", t.wire))
			continue
		}
		c.tools[t.wire] = t
		c.names = append(c.names, t.wire)
	}
	c.defs = append(c.defs, def)
	return errors.Join(errs...)
}

func (c *Catalog) hasWrite() bool { return len(c.writes()) > 0 }

func (c *Catalog) writes() []*definition {
	var ws []*definition
	for _, d := range c.defs {
		if d.write != nil {
			ws = append(ws, d)
		}
	}
	return ws
}

func (c *Catalog) checkCompensations() error {
	var errs []error
	for _, d := range c.writes() {
		name := d.write.compensates
		if name == "" {
			continue
		}
		if t, ok := c.tools[name]; !ok || t.def.write == nil || t.wire != t.def.write.wire || t.def == d {
			errs = append(errs, fmt.Errorf("tool %q: compensates: is not the commit of another write of the catalogue", d.write.wire))
		}
	}
	return errors.Join(errs...)
}

// General returns the wire names whose schemas need the general validator, sorted: those that do not reach the speed of
// the compiled check. Nil when there are none.
func (c *Catalog) General() []string {
	var names []string
	for _, name := range c.names {
		if t := c.tools[name]; !t.input.Compiled() || !t.output.Compiled() {
			names = append(names, name)
		}
	}
	return names
}

// Role narrows a catalogue to what one kind of run may call. The zero value is invalid.
type Role struct {
	name    string
	catalog *Catalog
	tools   map[string]*callable
	names   []string // sorted
}

// Role returns the role that may call the named tools and no others. A role may hold a preview without its commit; one
// with a commit has get_operation_v1 and cancel_operation_v1 by itself. Unknown, retired and repeated names are errors.
func (c *Catalog) Role(name string, wireNames ...string) (Role, error) {
	r := Role{name: name, catalog: c, tools: map[string]*callable{}}
	var errs []error
	if !nameForm.MatchString(name) {
		errs = append(errs, fmt.Errorf("tool: role %q: the name must match %s", name, nameForm))
	}
	commits := false
	for _, wire := range wireNames {
		t, ok := c.tools[wire]
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("tool: role %q: %q is not in the catalogue", name, wire))
		case t.def.spec.Retired:
			errs = append(errs, fmt.Errorf("tool: role %q: %q is retired", name, wire))
		case r.tools[wire] != nil:
			errs = append(errs, fmt.Errorf("tool: role %q: %q stands twice", name, wire))
		default:
			r.tools[wire] = t
			commits = commits || t.commits()
		}
	}
	if len(wireNames) == 0 {
		errs = append(errs, fmt.Errorf("tool: role %q: needs a tool", name))
	}
	if err := errors.Join(errs...); err != nil {
		return Role{}, err
	}
	if commits {
		for _, wire := range []string{getOperation, cancelOperation} {
			r.tools[wire] = c.tools[wire]
		}
	}
	for wire := range r.tools {
		r.names = append(r.names, wire)
	}
	slices.Sort(r.names)
	return r, nil
}

// Name returns the role's name, empty for the zero Role.
func (r Role) Name() string { return r.name }

// Tools returns the wire names of what the role may call, sorted.
func (r Role) Tools() []string { return slices.Clone(r.names) }

// Catalog returns the catalogue that the role is of, nil for the zero Role.
func (r Role) Catalog() *Catalog { return r.catalog }

// Schemas returns the schemas of a wire name's arguments and answer, and the limits that bound both documents; false
// where the catalogue has no such name.
func (c *Catalog) Schemas(wireName string) (Schemas, bool) {
	t, ok := c.tools[wireName]
	if !ok {
		return Schemas{}, false
	}
	s := t.def.spec
	return Schemas{Input: t.input, Output: t.output, InputLimits: s.Input, OutputLimits: s.Output, Retired: s.Retired}, true
}

// Schemas are what one wire name takes and answers. Retired says that it no longer does.
type Schemas struct {
	Input, Output             *validate.Schema
	InputLimits, OutputLimits validate.Limits
	Retired                   bool
}

func (t *callable) commits() bool { return t.def.write != nil && strings.HasPrefix(t.wire, "commit_") }
