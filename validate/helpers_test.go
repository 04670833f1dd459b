package validate_test

import "regexp"

func regexpQuote(s string) string { return regexp.QuoteMeta(s) }
