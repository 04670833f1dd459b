// Package audit owns the record of what was decided, and the quarantine of what must not be shown.
//
// An [Event] is one decision: who, where, what, with which outcome; names, codes and digests, never a value. A [Sink] records it:
// [Zap] in the log, [Recorder] in memory for tests, [Tee] in several. An [Item] is what broke a contract, with its cause; a
// [Quarantine] keeps it for a time on the operators' side: [MemoryQuarantine].
//
// Guarantees: [Sink.Record] returns nil only for what is recorded; a quarantined item is opened only after the opening was
// recorded; no error of this package holds a value of an event or an item.
//
// Not its business: deciding what is recorded (package tool), authorising the staff who open items (the host),
// and traces, which are not the audit.
package audit
