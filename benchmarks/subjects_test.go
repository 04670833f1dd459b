package benchmarks_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/benchmarks"
)

func guarded(tb testing.TB) []benchmarks.Subject {
	tb.Helper()
	call, stop, err := benchmarks.Call(10)
	require.NoError(tb, err)
	tb.Cleanup(stop)
	list := []benchmarks.Subject{call}
	for _, make := range []func() (benchmarks.Subject, error){
		benchmarks.Codec, benchmarks.Kaptinlin, benchmarks.Santhosh, benchmarks.Google, benchmarks.SDK, benchmarks.MCPGo,
	} {
		s, err := make()
		require.NoError(tb, err)
		list = append(list, s)
	}
	return list
}

// TestSubjectsDoTheWork: a comparison with a path that checks nothing would say nothing.
func TestSubjectsDoTheWork(t *testing.T) {
	check, err := benchmarks.Check()
	require.NoError(t, err)
	for _, size := range benchmarks.Sizes() {
		doc := size.Document()
		for _, s := range append(guarded(t), benchmarks.Floor(), check) {
			require.NoError(t, s.Run(doc), "%s at %s", s.Name, size.Name)
			require.NoError(t, s.Run(size.Shuffled()), "%s at %s", s.Name, size.Name)
		}
		for _, s := range append(guarded(t), check) {
			require.Error(t, s.Run(bytes.Replace(doc, []byte("shipped"), []byte("SHIPPED"), 1)), "%s does not look", s.Name)
			require.Error(t, s.Run(bytes.Replace(doc, []byte(`"gift"`), []byte(`"gaft"`), 1)), "%s does not look", s.Name)
		}
	}
	require.InDelta(t, 200, len(benchmarks.Sizes()[0].Document()), 40)
	require.InDelta(t, 4<<10, len(benchmarks.Sizes()[1].Document()), 400)
	require.InDelta(t, 175<<10, len(benchmarks.Sizes()[2].Document()), 4<<10)
}

func BenchmarkCall(b *testing.B) {
	subjects := append(guarded(b), benchmarks.Floor())
	for _, size := range benchmarks.Sizes() {
		doc := size.Document()
		for _, s := range subjects {
			b.Run(size.Name+"/"+s.Name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(doc)))
				for b.Loop() {
					if err := s.Run(doc); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	check, err := benchmarks.Check()
	require.NoError(b, err)
	for _, size := range benchmarks.Sizes() {
		for kind, doc := range map[string][]byte{"in order": size.Document(), "shuffled": size.Shuffled()} {
			for _, s := range []benchmarks.Subject{check, benchmarks.Decode()} {
				b.Run(size.Name+"/"+kind+"/"+s.Name, func(b *testing.B) {
					b.ReportAllocs()
					b.SetBytes(int64(len(doc)))
					for b.Loop() {
						if err := s.Run(doc); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
