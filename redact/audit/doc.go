// Package audit owns the record of what was decided, and the quarantine of what must not be shown.
//
// An [Event] is one decision: who, where, what, with which outcome; names, codes and digests, never a value. A [Sink]
// records it: [Zap] in the log, [File] in a hash-chained file whose integrity [Verify] proves offline, [Recorder] in
// memory for tests, [Tee] in several. An [Item] is what broke a contract, with its cause; a [Quarantine] keeps it for a
// time on the operators' side: [MemoryQuarantine], or sealed on a [Shelf], such as a directory ([SealedQuarantine],
// [DirShelf]).
//
//	sink, err := audit.OpenFile("audit.log", key, nil)
//	…
//	err = sink.Record(ctx, audit.Event{At: now, Kind: "dispatch", Tenant: "t1", Subject: "u1", Tool: "commit_address_change_v2"})
//
// and later, on any machine, with no key: go run ./redact/audit/auditverify audit.log
//
// Guarantees: [Sink.Record] returns nil only for what is recorded; a quarantined item is opened only after the opening
// was recorded; no error of this package holds a value of an event or an item.
//
// Not its business: deciding what is recorded (package tool), authorising the staff who open items (the host),
// and traces, which are not the audit.
package audit
