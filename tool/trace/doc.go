// Package trace records what a model did in a run, and replays it after a change: of a schema, a handler, an adapter.
//
// A [Recorder] stands around a run. It keeps the manifest of what could be called, each call with its answer, what the
// handlers asked other systems and what they were told, what workers did for the operations, the decisions of people, what
// the operations came to, and, where the host tells it, the model's request and final answer:
//
//	rec, err := trace.NewRecorder(trace.Config{Canaries: canaries})
//	rec.Wire(&cfg) // before tool.NewDispatcher
//	…
//	agent, err := rec.Run(run)
//	rec.Note(agent.ID(), trace.Request, "why was case 2207 refused?")
//	result := agent.Call(ctx, call)
//	err = rec.Save(file, agent.ID())
//
// A [Player] is wired into a host of the present catalogue and makes the same calls again, on the recorded times, with
// the recorded answers in the place of every other system:
//
//	recorded, err := trace.Load(file)
//	p := trace.NewPlayer(recorded, trace.PlayerConfig{At: clock.set})
//	p.Wire(&cfg)
//	…
//	report, err := p.Play(ctx, dispatcher, run)
//	err = report.Err()
//
// Exchanges are seen where an adapter uses package validate/upstream, or puts its own client's calls into [Do].
//
// # What is saved
//
// Values of fields that are secret, internal, personal or free text are replaced by stand-ins of the same form: the same
// value by the same stand-in, everywhere in the trace, another value by another one where the form has enough of them; a
// boolean is false, whatever it was. A prefix that a schema's pattern spells out is no secret. The stand-ins still pass the
// schemas, or nothing is saved; arguments that keep their verdict with none are left out, what rests on them is too, and the
// report of a replay says so.
//
// The subjects of the requester, of approvers and of operators are personal: each has a stand-in of its own, in documents
// too where their schemas take it. Reasons and evidence have stand-ins; of the field of a failure what is declared stays. In
// notes hidden texts of two letters or more go in any case, escaped as in JSON, percent-encoded, in base64, hexadecimal or
// lists of bytes, and in two of these inside each other; hidden numbers go as digits, grouped or as an amount of a minor
// unit, those of four digits or more in an encoding too.
//
// What is saved is searched for the registered canaries, whole and in pieces, raw and encoded; where one is found nothing is
// written.
//
// # What is made again
//
// Calls, the decisions of people and operators' words on unknown operations are made again, in the order in which each
// began. What a worker of the recorded dispatcher did for an operation, each time that it took it up and asked something or
// changed something, is a step of its own, with the result that it stored, as an answer; a replay, which has no worker
// (tool.ErrNotLive), makes it again there, through the worker's own code, and compares what it came to. The run's principal
// stands for whoever asked.
//
// A replay asks no other system: an exchange that the recording does not have fails, and is a difference, as is one that was
// recorded and is not made. The ids that the library makes, references of package redact and the run's id are other ones in
// each run; one stands for another throughout. All else that is not hidden is compared as it is: an id that a host's handler
// makes afresh differs. Times in answers and questions are compared as exactly as the recorded clock was ([PlayerConfig]).
//
// An exchange that went on when its call was answered, or the work ended, is kept as late, with what came of it by the time of
// saving: a replay answers it, with the context's error where nothing came, when the call has been answered again, as it was:
// because the caller went away, which the replay does too as it is asked, or at the tool's Timeout, which it waits for. Late
// exchanges that are not made are no difference.
//
// # What a trace does not see
//
// A trace is not the audit, and a trace of a host's own catalogue says nothing of the model's next run. Tenants, roles and ids
// of runs stay, and of a note what no field holds: a nickname, a number in words. A value of fewer than six characters is
// replaced where a schema hides it, and not elsewhere; within other texts than notes subjects alone are looked for, so what an
// adapter builds from a hidden value and calls trusted stays.
//
// What a worker of another dispatcher or process does is out of the trace's sight, its outcome too, and so is what a sweep
// closes: in a replay the operation stays as it was. Where the outcome alone is known, as in traces of before, the report
// names an operation that stays queued under NotReplayed. What an adapter asks by its own client, neither through
// validate/upstream nor through Do, is asked in a replay too; so is what a handler asks under a context that is not the one
// it was given.
//
// Calls made at the same time are made one after another; one that began and ended in the middle of a worker's work is made
// there, as long as the lease of the operation lasts on the host's clock. The order of the exchanges of one call is not
// compared. A call that was left out takes nothing of a budget. A lock of the host's own that a worker waited for while a call
// held it is not seen, and may cost a replay the tool's Timeout.
package trace
