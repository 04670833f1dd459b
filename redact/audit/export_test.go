package audit

// Disk is what a File writes to.
type Disk = disk

// Tap puts another disk under an open file.
func (f *File) Tap(wrap func(Disk) Disk) { f.f = wrap(f.f) }
