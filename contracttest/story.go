package contracttest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// story is what happened in a case, in order: calls and their answers, handlers, the provider, decisions, the clock. A nil
// one takes nothing. It is safe for concurrent use.
type story struct {
	mu    sync.Mutex
	steps []string
}

func (s *story) add(format string, args ...any) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, fmt.Sprintf(format, args...))
}

// The steps of a long story that are told.
const (
	firstSteps = 16
	lastSteps  = 12
)

// told is the story for a screen: of a long one the beginning and the end.
func (s *story) told() []string {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	left := len(s.steps) - firstSteps - lastSteps
	out := make([]string, 0, min(len(s.steps), firstSteps+lastSteps+1))
	for i, step := range s.steps {
		switch {
		case left <= 1 || i < firstSteps || i >= firstSteps+left:
			out = append(out, fmt.Sprintf("%d. %s", i+1, step))
		case i == firstSteps:
			out = append(out, fmt.Sprintf("… %d more", left))
		}
	}
	return out
}

// tell lets a fixture's parts tell what happens from now on.
func (f *Fixture) tell() {
	f.story = &story{}
	f.Probe.tell(f.story)
	if f.Upstream != nil {
		f.Upstream.tell(f.story)
	}
	if f.Clock != nil {
		f.Clock = toldClock{f.Clock, f.story}
	}
}

// toldSession is a run whose calls are told.
type toldSession struct {
	Session

	f   *Fixture
	run string
}

// Call implements Session.
func (s toldSession) Call(ctx context.Context, c envelope.Call) envelope.Result {
	r := s.Session.Call(ctx, c)
	if s.f.story != nil {
		s.f.story.add("%s: %s → %s", s.run, c.Tool, answerOf(r))
	}
	return r
}

// answerOf is an answer in one line.
func answerOf(r envelope.Result) string {
	e := r.Error
	if e == nil {
		text := "ok " + shownTo(r.Data, 160)
		if r.Replayed {
			text += ", replayed"
		}
		return text
	}
	text := Refusal{e.Code, e.Field, e.Rule}.answer()
	if e.Effect != "" {
		text += ", effect " + string(e.Effect)
	}
	if e.Retryable {
		text += ", retryable"
	}
	return text
}

// answer says what a refusal is, without a place where there is none.
func (r Refusal) answer() string {
	if r.Field == "" && r.Rule == "" {
		return string(r.Code)
	}
	return r.String()
}

type toldClock struct {
	Clock

	story *story
}

// Advance implements Clock.
func (c toldClock) Advance(d time.Duration) {
	c.story.add("the clock goes on by %s", d)
	c.Clock.Advance(d)
}
