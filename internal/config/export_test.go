package config

// LoadText loads a configuration from what a file of that name would hold.
func LoadText(name string, content []byte) (*Effective, error) {
	f, err := parseFile(name, content)
	return f.merged(err, Sources{})
}
