package tool

import (
	"sync"
	"sync/atomic"

	"github.com/toolcontract/toolcontract/idem"
)

// slots are what a call or a worker's attempt holds of parallel work: until it has ended and every handler that it began
// has returned, however late.
type slots struct {
	holders atomic.Int32
	owner   interface{ leave() } // told when the last holder has gone
}

// take and drop do nothing without slots.
func (s *slots) take() {
	if s != nil {
		s.holders.Add(1)
	}
}

func (s *slots) drop() {
	if s != nil && s.holders.Add(-1) == 0 {
		s.owner.leave()
	}
}

// gates count the parallel calls and handlers of tools that bound them.
type gates struct {
	mu    sync.Mutex
	inUse map[gateKey]int
}

// gate is where one call, or one handler of a worker, asks for a place.
type gate struct {
	tool        *callable
	tenant, run string
	queues      bool // it only queues a write
}

type gateKey struct {
	tool, tenant, run string
	queues            bool
}

// enter takes a place with the tool's tenant and with its run, or neither; leave gives them back.
func (g *gates) enter(of gate) bool {
	s := &of.tool.def.spec
	if s.PerRun == 0 && s.PerTenant == 0 {
		return true
	}
	perRun, perTenant := of.keys()
	g.mu.Lock()
	defer g.mu.Unlock()
	if s.PerRun > 0 && g.inUse[perRun] >= s.PerRun || s.PerTenant > 0 && g.inUse[perTenant] >= s.PerTenant {
		return false
	}
	if g.inUse == nil {
		g.inUse = map[gateKey]int{}
	}
	g.inUse[perRun]++
	g.inUse[perTenant]++
	return true
}

func (g *gates) leave(of gate) {
	if s := &of.tool.def.spec; s.PerRun == 0 && s.PerTenant == 0 {
		return
	}
	perRun, perTenant := of.keys()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, k := range [...]gateKey{perRun, perTenant} {
		if g.inUse[k]--; g.inUse[k] == 0 {
			delete(g.inUse, k)
		}
	}
}

func (of gate) keys() (perRun, perTenant gateKey) {
	k := gateKey{of.tool.wire, of.tenant, of.run, of.queues}
	perTenant = k
	perTenant.run = ""
	return k, perTenant
}

// place is a worker's, for one operation.
type place struct {
	d     *Dispatcher
	gate  gate
	slots slots
}

func (p *place) leave() { p.d.gates.leave(p.gate) }

// place takes one for a handler of the operation's commit, held until its slots are dropped; false: there is none now.
func (d *Dispatcher) place(def *definition, op idem.Record) (*slots, bool) {
	p := &place{d: d, gate: gate{tool: def.write.commit, tenant: op.Command.Key.Tenant, run: op.Command.Run}}
	if !d.gates.enter(p.gate) {
		return nil, false
	}
	p.slots.owner = p
	p.slots.take()
	return &p.slots, true
}
