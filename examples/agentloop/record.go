package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/tool/trace"
)

// save writes the run to a file that only its owner reads, one that was there before too. Where the run cannot be saved the
// file stays as it was.
func save(rec *trace.Recorder, run, file, request, answer string) (err error) {
	if err := rec.Note(run, trace.Request, request); err != nil {
		return err
	}
	if answer != "" {
		if err := rec.Note(run, trace.Answer, answer); err != nil {
			return err
		}
	}
	var doc bytes.Buffer
	if err := rec.Save(&doc, run); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o600) //nolint:gosec // the file that the user named
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if is, err := f.Stat(); err != nil {
		return err
	} else if is.Mode().IsRegular() {
		if err := errors.Join(f.Chmod(0o600), f.Truncate(0)); err != nil {
			return err
		}
	}
	_, err = f.Write(doc.Bytes())
	return err
}

var errNotTheSame = errors.New("the replay is not as it was recorded")

// replay makes the calls of a recording again, on the recorded times, against a shop that has nothing: the answers of the
// recorded one stand in its place, and the person's decisions are made again.
func replay(ctx context.Context, s settings, out io.Writer) (err error) {
	f, err := os.Open(s.replay)
	if err != nil {
		return err
	}
	recorded, err := trace.Load(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	var h *host
	player := trace.NewPlayer(recorded, trace.PlayerConfig{At: func(at time.Time) { h.clock.set(at) }})
	if h, err = newHost(ctx, s, out, player.Wire); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close(ctx)) }()
	h.shop.articles = nil
	report, err := player.Play(ctx, h.dispatcher, h.run)
	if err != nil {
		return err
	}
	for _, call := range report.Calls {
		h.say("%s", call)
	}
	for _, other := range report.Other {
		h.say("%s", other)
	}
	if err := report.Err(); err != nil {
		return fmt.Errorf("%w: %w", errNotTheSame, err)
	}
	return nil
}

// clock is the machine's, or stands where it is set; the zero time lets it go again.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() {
		return time.Now()
	}
	return c.at
}

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}
