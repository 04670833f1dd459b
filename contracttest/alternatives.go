package contracttest

import "regexp/syntax"

// maxAlternatives bounds how many branches of a pattern are written.
const maxAlternatives = 40

// alternatives returns a text for each branch of each alternation of a single pattern, as far as there are such texts.
func (g *generator) alternatives(s *shape, whole *automaton, l lengths) (out []string) {
	if len(s.patterns) != 1 {
		return nil
	}
	tree, err := syntax.Parse(s.patterns[0], syntax.Perl)
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	for _, variant := range branches(tree, tree) {
		if len(out) == maxAlternatives {
			break
		}
		a, err := newAutomaton(variant)
		if err != nil {
			continue
		}
		text, err := a.shortest(l, 3)
		if err != nil || seen[text] || !whole.matches(text) {
			continue
		}
		seen[text] = true
		out = append(out, text)
	}
	return out
}

// branches spells the whole expression once for each branch of each alternation in it, that branch alone standing there.
func branches(root, at *syntax.Regexp) (out []string) {
	if at.Op == syntax.OpAlternate || at.Op == syntax.OpQuest || at.Op == syntax.OpCharClass {
		saved := *at
		for _, alone := range choices(&saved) {
			*at = *alone
			out = append(out, root.String())
		}
		*at = saved
	}
	for _, sub := range at.Sub {
		out = append(out, branches(root, sub)...)
	}
	return out
}

func choices(at *syntax.Regexp) (out []*syntax.Regexp) {
	if at.Op == syntax.OpAlternate {
		return at.Sub
	}
	if at.Op == syntax.OpQuest {
		return []*syntax.Regexp{{Op: syntax.OpEmptyMatch}, at.Sub[0]}
	}
	for _, r := range at.Rune { // the borders of a class
		out = append(out, &syntax.Regexp{Op: syntax.OpCharClass, Rune: []rune{r, r}})
	}
	return out
}
