package cli

// Help implements kong.HelpProvider: what stands below a command's flags.
func (*serveCmd) Help() string {
	return `Examples:
  holdfast serve
  holdfast serve --config holdfast.yaml --max-tasks 200
  holdfast serve --listen 127.0.0.1:0 --json`
}

// Help implements kong.HelpProvider.
func (*taskStartCmd) Help() string {
	return `Examples:
  holdfast task start checkout-7
  holdfast task start shared-1 --cdp-url http://127.0.0.1:9222
  holdfast task start quick --policy auto_accept --timeout 30s --idle-timeout 5m`
}

// Help implements kong.HelpProvider.
func (*navigateCmd) Help() string {
	return `Example:
  holdfast navigate checkout-7 https://example.com --wait domcontentloaded`
}

// Help implements kong.HelpProvider.
func (*cdpCmd) Help() string {
	return `Examples:
  holdfast cdp checkout-7 Runtime.evaluate '{"expression":"document.title"}'
  holdfast cdp checkout-7 Runtime.evaluate '{"expression":"1+1"}' --frame-url /pay`
}

// Help implements kong.HelpProvider.
func (*dialogAcceptCmd) Help() string {
	return `Example:
  holdfast dialog accept checkout-7 --text "4242"`
}

// Help implements kong.HelpProvider.
func (*chaosCmd) Help() string {
	return `Example:
  holdfast chaos checkout-7 --kill both`
}
