package redact

// Thorough is Text without the looks ahead.
func Thorough(s string) string {
	if len(s) < 8 {
		return s
	}
	for _, f := range shapes {
		s = f.mask(f.re, s)
	}
	return s
}
