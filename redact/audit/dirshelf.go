package audit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// DirShelf is a [Shelf] of files in one directory, one a parcel. Make it with [OpenDirShelf].
//
// A parcel is written under another name, synced and renamed, so that a crash leaves no half of one. Several processes
// may share the directory: each sees what the others put. Files of other names are left alone.
type DirShelf struct {
	root     *os.Root
	dir      string
	requests int

	mu  sync.Mutex // one Put at a time, so that the limits hold
	seq uint64     // orders parcels of one instant
}

// OpenDirShelf opens the directory, and makes it, for its owner alone, where it is not there. requests is of how many
// requests parcels are kept: the oldest give way. Zero or less: 10 000.
func OpenDirShelf(dir string, requests int) (*DirShelf, error) {
	if requests <= 0 {
		requests = 10_000
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("audit: shelf: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("audit: shelf: %w", err)
	}
	return &DirShelf{root: root, dir: filepath.Clean(dir), requests: requests}, nil
}

// Close releases the directory.
func (s *DirShelf) Close() error { return s.root.Close() }

// slip is what a parcel's file is called: when it expires, whose it is, and its place among the request's.
type slip struct {
	expires, kept int64 // in milliseconds of Unix time
	seq           uint64
	request       string
	name          string
}

const (
	parcelExt = ".sealed"
	tempExt   = ".tmp"
	// maxParcel bounds what is read: a document of MaxRaw in base64, a cause, a seal.
	maxParcel = 4 << 20
)

func (s slip) fileName(suffix string) string {
	return fmt.Sprintf("%016d-%016d-%016x-%s-%s%s", s.expires, s.kept, s.seq, s.request, suffix, parcelExt)
}

// parseSlip reads a file's name; false for one that is not a parcel's, or half of one.
func parseSlip(name string) (slip, bool) {
	parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(name, tempExt), parcelExt), "-")
	if len(parts) != 5 || !strings.Contains(name, parcelExt) {
		return slip{}, false
	}
	expires, err1 := strconv.ParseInt(parts[0], 10, 64)
	kept, err2 := strconv.ParseInt(parts[1], 10, 64)
	seq, err3 := strconv.ParseUint(parts[2], 16, 64)
	s := slip{expires, kept, seq, parts[3], name}
	return s, errors.Join(err1, err2, err3) == nil && strings.TrimSuffix(name, tempExt) == s.fileName(parts[4])
}

// slips lists the parcels in the order in which they were put, the half-written ones too.
func (s *DirShelf) slips() ([]slip, error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var all []slip
	for _, e := range entries {
		if one, ok := parseSlip(e.Name()); ok && e.Type().IsRegular() {
			all = append(all, one)
		}
	}
	slices.SortStableFunc(all, func(a, b slip) int {
		if a.kept != b.kept {
			return int(min(1, max(-1, a.kept-b.kept)))
		}
		return strings.Compare(fmt.Sprintf("%016x", a.seq), fmt.Sprintf("%016x", b.seq))
	})
	return all, nil
}

func (s slip) whole() bool { return !strings.HasSuffix(s.name, tempExt) }

// Put implements [Shelf].
func (s *DirShelf) Put(_ context.Context, p Parcel) error {
	if p.Kept.UnixMilli() < 0 || p.Expires.UnixMilli() < 0 {
		return fmt.Errorf("%w: a time before 1970", ErrItem)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.makeRoom(p.Request); err != nil {
		return err
	}
	suffix := make([]byte, 8)
	if _, err := rand.Read(suffix); err != nil {
		return err
	}
	s.seq++
	name := slip{expires: p.Expires.UnixMilli(), kept: p.Kept.UnixMilli(), seq: s.seq, request: p.Request}.fileName(hex.EncodeToString(suffix))
	if err := s.write(name+tempExt, p.Sealed); err != nil {
		return errors.Join(err, s.remove(name+tempExt))
	}
	if err := s.root.Rename(name+tempExt, name); err != nil {
		return errors.Join(err, s.remove(name+tempExt))
	}
	return syncDir(s.dir)
}

func (s *DirShelf) write(name string, sealed []byte) error {
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(sealed)
	return errors.Join(err, f.Sync(), f.Close())
}

// makeRoom removes what gives way to one more parcel of the request.
func (s *DirShelf) makeRoom(request string) error {
	all, err := s.slips()
	if err != nil {
		return err
	}
	names := map[string][]string{} // of the files by request
	var requests []string          // the oldest first
	for _, one := range all {
		if !one.whole() {
			continue
		}
		if len(names[one.request]) == 0 {
			requests = append(requests, one.request)
		}
		names[one.request] = append(names[one.request], one.name)
	}
	mine := names[request]
	if len(mine) >= MaxBefore {
		return s.remove(mine[len(mine)-1])
	}
	for len(mine) == 0 && len(requests) >= s.requests {
		for _, name := range names[requests[0]] {
			if err := s.remove(name); err != nil {
				return err
			}
		}
		requests = requests[1:]
	}
	return nil
}

// remove removes a file that another process may have removed before.
func (s *DirShelf) remove(name string) error {
	if err := s.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Parcels implements [Shelf].
func (s *DirShelf) Parcels(_ context.Context, request string) ([]Parcel, error) {
	all, err := s.slips()
	if err != nil {
		return nil, err
	}
	var parcels []Parcel
	for _, one := range all {
		if one.request != request || !one.whole() {
			continue
		}
		sealed, err := s.read(one.name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // purged meanwhile
		}
		if err != nil {
			return nil, err
		}
		parcels = append(parcels, Parcel{one.request, time.UnixMilli(one.kept).UTC(), time.UnixMilli(one.expires).UTC(), sealed})
	}
	return parcels, nil
}

func (s *DirShelf) read(name string) ([]byte, error) {
	f, err := s.root.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxParcel))
	return b, errors.Join(err, f.Close())
}

// Purge implements [Shelf]. A half-written parcel goes when the whole one would have, and is not counted.
func (s *DirShelf) Purge(_ context.Context, now time.Time) (int, error) {
	all, err := s.slips()
	if err != nil {
		return 0, err
	}
	purged := 0
	for _, one := range all {
		if one.expires > now.UnixMilli() {
			continue
		}
		if err := s.remove(one.name); err != nil {
			return purged, err
		}
		if one.whole() {
			purged++
		}
	}
	return purged, nil
}
