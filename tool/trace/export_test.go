package trace

// Steps is how many steps of a run are in memory.
func Steps(r *Recorder, run string) int { return len(r.stepsOf(run)) }
