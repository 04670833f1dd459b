package contracttest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
)

// catalogue is what can be seen of a catalogue from outside.
type catalogue struct {
	c       *tool.Catalog
	tools   []published
	retired []string
}

// published is one tool as a model sees it, with what its role pins.
type published struct {
	tool.Published
	manifest tool.ManifestTool
}

func (p published) isCommit() bool {
	return strings.HasPrefix(p.Name, "commit_") && p.manifest.Write != nil
}
func (p published) isPreview() bool { return p.Class == "preview" }

// builtIn reports whether the library itself serves the tool.
func (p published) builtIn() bool {
	return p.Name == "get_operation_v1" || p.Name == "cancel_operation_v1"
}

// readCatalogue looks at a catalogue through a dispatcher of its own, which serves nothing.
func readCatalogue(c *tool.Catalog) (*catalogue, error) {
	if c == nil {
		return nil, errors.New("contracttest: no catalogue")
	}
	names, err := wireNames(c)
	if err != nil {
		return nil, err
	}
	out := &catalogue{c: c}
	var live []string
	for _, name := range names {
		if _, err := c.Role("probe", name); err != nil {
			out.retired = append(out.retired, name)
			continue
		}
		live = append(live, name)
	}
	if len(live) == 0 {
		return nil, errors.New("contracttest: the catalogue serves no tool")
	}
	role, err := c.Role("probe", live...)
	if err != nil {
		return nil, err
	}
	run, err := aside(c, role)
	if err != nil {
		return nil, err
	}
	manifest := c.Manifest(role)
	for i, p := range run.Tools() {
		out.tools = append(out.tools, published{p, manifest.Tools[i]})
	}
	return out, nil
}

// wireNames are all wire names of a catalogue: the first column of its data map.
func wireNames(c *tool.Catalog) ([]string, error) {
	var b bytes.Buffer
	if err := c.DataMap(&b); err != nil {
		return nil, err
	}
	var names []string
	for i, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if cells := strings.Split(line, " | "); i >= 2 && len(cells) > 1 {
			names = append(names, strings.TrimPrefix(cells[0], "| "))
		}
	}
	return names, nil
}

// aside starts a run beside everything else, to read what is published.
func aside(c *tool.Catalog, role tool.Role) (*tool.Run, error) {
	digester, err := redact.NewDigester(redact.Key{ID: "contracttest", Secret: bytes.Repeat([]byte{7}, 32)})
	if err != nil {
		return nil, err
	}
	at := startTime()
	now := func() time.Time { return at }
	d, err := tool.NewDispatcher(c, tool.Config{
		Policy: approval.Everything(approval.Requirement{Level: approval.One, Role: approverRole}), Approvals: approval.NewMemory(now),
		Authority: approval.ByRole{}, Ledger: idem.NewMemory(now), Digester: digester, Audit: &auditSink{}, Now: now,
	})
	if err != nil {
		return nil, fmt.Errorf("contracttest: the catalogue cannot be read: %w", err)
	}
	return d.Start(tool.RunConfig{ID: "probe", Principal: requester(), Role: role, Budget: tool.Budget{Calls: 1}, Deadline: at.Add(time.Hour)})
}

func (c *catalogue) tool(wire string) (published, error) {
	for _, p := range c.tools {
		if p.Name == wire {
			return p, nil
		}
	}
	return published{}, fmt.Errorf("contracttest: %q is not served by the catalogue", wire)
}

// names are the wire names that can be called, but for those that the library adds.
func (c *catalogue) names() []string {
	var names []string
	for _, p := range c.tools {
		if !p.builtIn() {
			names = append(names, p.Name)
		}
	}
	return names
}

// commitOf returns the commit that belongs to a preview.
func (c *catalogue) commitOf(preview string) (published, bool) {
	i := slices.IndexFunc(c.tools, func(p published) bool {
		return p.isCommit() && p.Name == "commit_"+strings.TrimPrefix(preview, "preview_")
	})
	if i < 0 {
		return published{}, false
	}
	return c.tools[i], true
}

// generator makes the generator of one tool's input, with what the options say of it.
func (o *options) generator(p published) (*generator, error) {
	g, err := newGenerator("input", p.Name, p.Input, p.manifest.InputLimits)
	if err != nil {
		return nil, err
	}
	return g, o.teach(g, p)
}

func (o *options) teach(g *generator, p published) error {
	used := map[string]bool{}
	g.each(place{parts: g.c.whole()}, func(at place, _ []*shape) {
		key := p.Name + "/" + strings.ReplaceAll(at.field, "[0]", "[]")
		if w, ok := o.witnesses[key]; ok {
			used[key] = true
			for _, part := range at.parts {
				g.witness[part.schema] = w
			}
		}
	})
	for key := range o.witnesses {
		if strings.HasPrefix(key, p.Name+"/") && !used[key] {
			return fmt.Errorf("contracttest: Witness(%q): the tool has no such place", key)
		}
	}
	for _, doc := range o.examples[p.Name] {
		if v := g.judge.verdict(doc); !v.valid() {
			return fmt.Errorf("contracttest: Examples(%q): the schema refuses the document: %s %s", p.Name, v.code, v.keywords())
		}
		v, err := parseValue(doc)
		if err != nil {
			return err
		}
		g.examples = append(g.examples, v)
	}
	return nil
}

// Cases returns the cases of one tool's input, in order, the same each time: what the published schema admits and refuses,
// at every bound. It calls nothing. The error says which bound no case could be made for, which keyword has no operator,
// or that an operator and the independent judge disagree about a document.
func Cases(c *tool.Catalog, wireName string, opts ...Option) ([]Case, error) {
	o := collect(opts)
	if err := errors.Join(o.errs...); err != nil {
		return nil, err
	}
	cat, err := readCatalogue(c)
	if err != nil {
		return nil, err
	}
	p, err := cat.tool(wireName)
	if err != nil {
		return nil, err
	}
	cases, _, err := o.cases(p)
	return cases, err
}

func (o *options) cases(p published) ([]Case, []KeywordRow, error) {
	g, err := o.generator(p)
	if err != nil {
		return nil, nil, err
	}
	cases, err := g.run()
	if err == nil && len(cases) > o.maxCases {
		err = fmt.Errorf("contracttest: %s has %d cases, the budget is %d", p.Name, len(cases), o.maxCases)
	}
	return cases, g.table(), err
}

// table are the rows of the report.
func (g *generator) table() []KeywordRow {
	rows := make([]KeywordRow, 0, len(g.order))
	for _, k := range g.order {
		rows = append(rows, *g.rows[k])
	}
	return rows
}

// Instance returns a document that the tool's input schema admits. choose(n) returns a number from 0 to n-1 and decides
// everything that is free: draw it from rapid, from fuzz bytes or from a generator of random numbers. The same choices
// give the same document. Nil where the tool is not in the catalogue or no instance is found within the choices.
func Instance(c *tool.Catalog, wireName string, choose func(n int) int) []byte {
	cat, err := readCatalogue(c)
	if err != nil {
		return nil
	}
	p, err := cat.tool(wireName)
	if err != nil {
		return nil
	}
	g, err := newGenerator("input", p.Name, p.Input, p.manifest.InputLimits)
	if err != nil {
		return nil
	}
	return g.instance(choose)
}

// instanceTries is how often a document is drawn until the judge takes it too.
const instanceTries = 20

func (g *generator) instance(choose func(n int) int) []byte {
	for range instanceTries {
		b := g.builder(smallest)
		b.choose = choose
		v, err := b.build(g.c.whole())
		if err != nil {
			continue
		}
		if doc := v.bytes(); g.judge.verdict(doc).valid() {
			return doc
		}
	}
	return nil
}
