package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Zap records events in a log: the message "audit" at level info with the event's set fields, by name. Make it with
// [NewZap]; immutable and safe for concurrent use.
//
// Events go to the logger's core directly, so that neither its level nor its sampling drops one, and an error of its
// writer is Record's. Where the core is a tee by level, every branch gets the event. Whether a line that was written
// lasts is the log's affair: beside writes that matter use a [File] or a database, or both by [Tee].
type Zap struct {
	core zapcore.Core
	name string
}

// NewZap returns a sink for the logger; nil is zap.NewNop, which records nothing and says nothing.
func NewZap(logger *zap.Logger) *Zap {
	if logger == nil {
		logger = zap.NewNop()
	}
	return &Zap{logger.Core(), logger.Name()}
}

// Record implements [Sink].
func (z *Zap) Record(_ context.Context, e Event) error {
	if err := e.check(); err != nil {
		return err
	}
	entry := zapcore.Entry{Level: zapcore.InfoLevel, Time: e.At, LoggerName: z.name, Message: "audit"}
	if err := z.core.Write(entry, []zap.Field{zap.Inline(logged(e))}); err != nil {
		return fmt.Errorf("audit: log: %w", err)
	}
	return nil
}

// logged writes the fields of an event that a log may show: those named here, and a new one only when it is added here.
type logged Event

func (e logged) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	for _, f := range [...]struct{ name, value string }{
		{"kind", e.Kind},
		{"tenant", e.Tenant},
		{"subject", e.Subject},
		{"run", e.Run},
		{"tool", e.Tool},
		{"request_id", e.RequestID},
		{"operation", e.Operation},
		{"proposal", e.Proposal},
		{"code", string(e.Code)},
		{"field", e.Field},
		{"outcome", e.Outcome},
		{"authorized_by", e.AuthorizedBy},
		{"policy_version", e.PolicyVersion},
		{"adapter_version", e.AdapterVersion},
		{"source", e.Source},
	} {
		if f.value != "" {
			enc.AddString(f.name, f.value)
		}
	}
	if len(e.Fields) > 0 {
		zap.Strings("fields", e.Fields).AddTo(enc)
	}
	if len(e.Digests) > 0 {
		return enc.AddObject("digests", sorted(e.Digests))
	}
	return nil
}

type sorted map[string]string

func (s sorted) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		enc.AddString(name, s[name])
	}
	return nil
}
