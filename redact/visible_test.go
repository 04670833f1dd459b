package redact_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
)

func ExampleVisible() {
	fmt.Println(redact.Visible("Pay to \u202egro.live\u202c"))
	fmt.Println(redact.Visible("Zoë 👩\u200d💻 pays 10\u00a0€"))
	// Output:
	// Pay to ⟦U+202E⟧gro.live⟦U+202C⟧
	// Zoë 👩‍💻 pays 10 €
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want, why string }{
		{"bidi override", "a\u202eb", "a⟦U+202E⟧b", "reverses what is read"},
		{"bidi marks", "\u200e\u200f\u061c", "⟦U+200E⟧⟦U+200F⟧⟦U+061C⟧", "move what stands beside them"},
		{"bidi embeddings", "\u202a\u202b\u202c\u202d", "⟦U+202A⟧⟦U+202B⟧⟦U+202C⟧⟦U+202D⟧", "likewise"},
		{"bidi isolates", "\u2066\u2067\u2068\u2069", "⟦U+2066⟧⟦U+2067⟧⟦U+2068⟧⟦U+2069⟧", "likewise"},
		{"zero width", "pay\u200bpal\u2060\ufeff", "pay⟦U+200B⟧pal⟦U+2060⟧⟦U+FEFF⟧", "takes no room"},
		{"joiners in words", "a\u200db\u200cc", "a⟦U+200D⟧b⟦U+200C⟧c", "takes no room"},
		{"soft hyphen", "in\u00advoice", "in⟦U+00AD⟧voice", "shows at line ends only"},
		{"grapheme joiner", "a\u034fb", "a⟦U+034F⟧b", "default ignorable"},
		{"controls", "a\x00b\x1b[31m\x7f\u0085", "a⟦U+0000⟧b⟦U+001B⟧[31m⟦U+007F⟧⟦U+0085⟧", "move a terminal's cursor"},
		{"line breaks and tab", "a\r\nApproved by:\tEve", "a⟦U+000D⟧⟦U+000A⟧Approved by:⟦U+0009⟧Eve", "a value must not look like a line of the page"},
		{"separators", "a\u2028b\u2029", "a⟦U+2028⟧b⟦U+2029⟧", "break lines in some readers"},
		{"tags", "ok\U000e0041\U000e0042\U000e007f", "ok⟦U+E0041⟧⟦U+E0042⟧⟦U+E007F⟧", "carry hidden text to a model"},
		{"variation selectors", "a\ufe0f\U000e0100", "a⟦U+FE0F⟧⟦U+E0100⟧", "carry hidden bytes"},
		{"invisible operators", "1\u20622", "1⟦U+2062⟧2", "take no room"},
		{"Hangul fillers", "\u115f\u1160\u3164\uffa0", "⟦U+115F⟧⟦U+1160⟧⟦U+3164⟧⟦U+FFA0⟧", "letters without a shape"},
		{"Mongolian vowel separator", "\u180e", "⟦U+180E⟧", "format character"},
		{"interlinear annotation", "\ufff9", "⟦U+FFF9⟧", "format character"},
		{"unassigned ignorable", "\U000e0fff\u2065", "⟦U+E0FFF⟧⟦U+2065⟧", "reserved to be ignored"},
		{"noncharacter", "\ufffe\U0010ffff", "⟦U+FFFE⟧⟦U+10FFFF⟧", "never text"},
		{"invalid UTF-8", "a\xff\xe2\x80b", "a⟦0xFF⟧⟦0xE2⟧⟦0x80⟧b", "the result is text"},
		{"emoji start of a run of joiners", "👩\u200d\u200d💻", "👩⟦U+200D⟧⟦U+200D⟧💻", "one joiner shapes, two hide"},
		{"joiner after an emoji", "👩\u200dx", "👩⟦U+200D⟧x", "nothing to join"},
		{"joiner at the end", "👩\u200d", "👩⟦U+200D⟧", "nothing to join"},
		{"second variation selector", "❤\ufe0f\ufe0f", "❤\ufe0f⟦U+FE0F⟧", "one shapes, two hide"},
		{"selector after a digit", "1\ufe0f", "1⟦U+FE0F⟧", "no keycap"},
		{"Welsh flag", "🏴\U000e0067\U000e0062", "🏴⟦U+E0067⟧⟦U+E0062⟧", "tags are a place to hide, also here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := redact.Visible(c.in)
			require.Equal(t, c.want, got, c.why)
			require.Equal(t, got, redact.Visible(got), "idempotent")
		})
	}
}

func TestVisibleKeepsOrdinaryText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ~", "plain ASCII, 100 %", "Größe naïve œuvre", "e\u0301 combining", "Привет", "שלום", "مرحبا", "नमस्ते", "こんにちは\u3000世界", "안녕", "ไทย",
		"10\u202f000\u00a0€", "thin\u2009space", "⟦ already ⟧", "\ufffd", "\u0601123", "\ue000",
		"👍🏽", "👩\u200d💻", "👩🏽\u200d🚒", "👨\u200d👩\u200d👧\u200d👦", "❤\ufe0f\u200d🔥", "🏳\ufe0f\u200d🌈", "🧔🏻\u200d♂\ufe0f", "🙂\u200d↔\ufe0f", "🐻\u200d❄\ufe0f", "1\ufe0f\u20e3", "#\ufe0f\u20e3", "©\ufe0f", "™\ufe0f", "☎\ufe0e", "🇫🇷", "ℹ\ufe0f",
	} {
		require.Equal(t, text, redact.Visible(text))
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"a\u202eb", "👩\u200d💻\u200d", "1\ufe0f\u20e3\ufe0f", "\xff⟦", "❤\ufe0f\u200d🔥\U000e0041"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := redact.Visible(text)
		require.True(t, utf8.ValidString(got))
		require.Equal(t, got, redact.Visible(got), "idempotent")
		for _, r := range got {
			switch {
			case r == '\u200d' || r == '\ufe0f' || r == '\ufe0e': // within emoji
			case unicode.Is(unicode.Cf, r):
				require.True(t, unicode.Is(unicode.Prepended_Concatenation_Mark, r), "%U", r)
			default:
				require.False(t, unicode.IsControl(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r), "%U", r)
			}
		}
		if !strings.Contains(got, "⟦") {
			require.Equal(t, text, got, "what is not written out is unchanged")
		}
	})
}
