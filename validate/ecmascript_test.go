package validate_test

import (
	"bytes"
	"encoding/json/v2"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

// tokens are what patterns are put together from: where the dialects part is where these meet.
var tokens = []string{
	"a", "b", "-", "--", ":", "1", ",", "é", "😀", `\d`, `\W`, `\p{Lu}`, `\P{L}`, `\x41`, `\-`, `\.`, `\/`, `\]`, "^", "$", "*", "+", "?", "??", "{1}", "{0,2}", "{01}", "{1,}",
	"{", "}", "[", "[^", "]", "(", "(?:", ")", ")", "]", "|", ".", "[a-c", "[:", "&&", `\n`, `\0`, `\p{lu}`, " ",
}

// TestPatternsAgreeWithECMAScript asks an engine of ECMA-262 itself: it must take every pattern that is taken here, with
// the flag u, and find the same texts.
func TestPatternsAgreeWithECMAScript(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		const hint = "no node command on PATH: patterns are not compared with an engine of ECMA-262; apt-get install nodejs"
		if os.Getenv("CI") != "" {
			t.Fatal(hint)
		}
		t.Skip(hint)
	}
	texts := []string{"", "a", "b", "ab", "aab", "A", "Aa", "-", "a-", "1", "11", ".", "é", "😀", "\n", "\u2028", "a\nb", "[", "]", "{", "}", "a{01}", ":", ",", "&", " ", "/", "ba1-Aé"}
	type question struct {
		Pattern string `json:"p"`
		Found   []bool `json:"found"`
	}
	var list []question
	r := rand.New(rand.NewPCG(7, 1))
	for seen := map[string]bool{}; len(list) < 5_000; {
		var b strings.Builder
		for range 1 + r.IntN(7) {
			b.WriteString(tokens[r.IntN(len(tokens))])
		}
		q := question{Pattern: b.String()}
		if seen[q.Pattern] {
			continue
		}
		seen[q.Pattern] = true
		if q.Found, err = validate.Matches(q.Pattern, texts); err != nil {
			continue
		}
		list = append(list, q)
	}
	input, err := json.Marshal(map[string]any{"texts": texts, "list": list})
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), node, "-e", `
		const {texts, list} = JSON.parse(require("fs").readFileSync(0, "utf8"));
		for (const q of list) {
			let re;
			try { re = new RegExp(q.p, "u"); } catch (e) { console.log("refuses " + JSON.stringify(q.p)); continue; }
			texts.forEach((text, i) => { if (re.test(text) !== q.found[i]) console.log("reads " + JSON.stringify(q.p) + " otherwise on " + JSON.stringify(text)); });
		}`)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Empty(t, string(out), "an engine of ECMA-262")
}
