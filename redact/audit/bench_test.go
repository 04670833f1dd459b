package audit_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact/audit"
)

// BenchmarkFile/one writes from one goroutine, /many from 64 that share the syncs.
func BenchmarkFile(b *testing.B) {
	b.Run("one", func(b *testing.B) {
		f := openFile(b, filepath.Join(b.TempDir(), "audit.log"))
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, f.Record(b.Context(), event(1)))
		}
	})
	b.Run("many", func(b *testing.B) {
		f := openFile(b, filepath.Join(b.TempDir(), "audit.log"))
		b.ReportAllocs()
		b.SetParallelism(32)
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				if err := f.Record(b.Context(), event(1)); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

func BenchmarkVerify(b *testing.B) {
	text, _ := written(b, 500)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, audit.Verify(bytes.NewReader(text)))
	}
}
