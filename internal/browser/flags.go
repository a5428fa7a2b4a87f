package browser

import (
	"slices"
	"syscall"
)

// quiet are the flags every browser gets: no questions at first start, and
// nothing talks to the network but the pages themselves.
var quiet = []string{
	"--no-first-run",
	"--no-default-browser-check",
	"--disable-background-networking",
	"--disable-component-update",
	"--disable-default-apps",
	"--disable-domain-reliability",
	"--disable-sync",
	"--disable-quic",
	"--metrics-recording-only",
	"--no-pings",
	"--password-store=basic",
	"--use-mock-keychain",
}

// awake keeps a page in the background as fast as one in front: an agent's tabs are opened
// in the background and must not be throttled there.
var awake = []string{
	"--disable-background-timer-throttling",
	"--disable-backgrounding-occluded-windows",
	"--disable-renderer-backgrounding",
	"--disable-hang-monitor",
}

// proxied leave a page no way around its browser's proxy. They come after the
// operator's flags: the last one of a name wins.
var proxied = []string{
	"--proxy-bypass-list=<-loopback>", // loopback would be reached directly
	"--disable-quic",
	"--force-webrtc-ip-handling-policy=disable_non_proxied_udp", // STUN and TURN
	"--webrtc-ip-handling-policy=disable_non_proxied_udp",       // its name with a window
}

const (
	// maxSocketPath is what a Unix socket address may have, in bytes: 107 on Linux.
	maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1
	// singletonSocket is as long as the longest socket Chromium puts in TMPDIR.
	singletonSocket = "/org.chromium.Chromium.XXXXXX/SingletonSocket"
)

// arguments builds the browser's command line. The operator's flags come
// after ours, since Chromium lets the last one win, but before the three that
// ownership and discovery lean on.
func arguments(profile string, o LaunchOptions, extra []string, hasSandbox bool) []string {
	if o.App != "" {
		return appArguments(profile, o, hasSandbox)
	}
	args := append(append([]string{}, quiet...), awake...)
	if o.IsHeadless {
		args = append(args, "--headless=new", "--disable-gpu", "--hide-scrollbars", "--mute-audio")
	}
	if !hasSandbox {
		args = append(args, noSandboxFlag)
	}
	if needsSharedMemory() {
		args = append(args, "--disable-dev-shm-usage")
	}
	args = append(args, extra...)
	args = append(args, throughProxy(o.Proxy)...)
	driven := "--remote-debugging-pipe"
	if o.transport == TransportPort {
		driven = "--remote-debugging-port=0"
	}
	return append(args, driven, userDataDirFlag+profile, "about:blank")
}

// appArguments are the command line of an application: Electron takes the flags of Chromium
// that matter here, and hands its own files the rest.
func appArguments(profile string, o LaunchOptions, hasSandbox bool) []string {
	args := throughProxy(o.Proxy)
	if !hasSandbox {
		args = append(args, noSandboxFlag)
	}
	args = append(args, "--remote-debugging-port=0", userDataDirFlag+profile)
	return append(args, o.Args...)
}

// throughProxy are the flags of a browser with a proxy.
func throughProxy(proxy string) []string {
	if proxy == "" {
		return nil
	}
	return append(slices.Clone(proxied), "--proxy-server=http://"+proxy)
}

// noSandboxFlag has Chromium run without its own sandbox.
const noSandboxFlag = "--no-sandbox"

const userDataDirFlag = "--user-data-dir="
